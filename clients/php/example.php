<?php

require __DIR__ . '/src/Signer.php';

$signer = new Darkroom\Signer('k1', getenv('SIGNING_SECRET'), 'https://img.example.com');
$image = ['url' => 'https://example.com/photo.jpg', 'w' => 400, 'h' => 300, 'fit' => 'cover'];

echo $signer->url($image), "\n";
echo $signer->url($image, expires: new DateTimeImmutable('+1 hour')), "\n";
echo $signer->url(['url' => $image['url']], path: '/info'), "\n";
echo $signer->signedPath($image), "\n";
echo $signer->srcset(['url' => $image['url'], 'ar' => '4:3'], [320, 640, 1280]), "\n";
