using System;
using System.Collections.Generic;
using Darkroom;

static class Example
{
    static void Main()
    {
        var secret = Environment.GetEnvironmentVariable("SIGNING_SECRET");
        var signer = new Signer("k1", secret, "https://img.example.com");
        var image = new Dictionary<string, object>
        {
            ["url"] = "https://example.com/photo.jpg", ["w"] = 400, ["h"] = 300, ["fit"] = "cover",
        };
        var source = new Dictionary<string, object> { ["url"] = image["url"] };

        Console.WriteLine(signer.Url(image));
        Console.WriteLine(signer.Url(image, DateTimeOffset.UtcNow.AddHours(1)));
        Console.WriteLine(signer.Url(source, path: "/info"));
        Console.WriteLine(signer.SignedPath(image));
        Console.WriteLine(signer.Srcset(source, new[] { 320, 640, 1280 }));
    }
}
