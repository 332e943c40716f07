# Varnish in front of Darkroom, which purges it by tags; tested with 7.1 and its module xkey (Debian: varnish,
# varnish-modules). Darkroom's settings: response-tags: xkey and purge-to: [varnish: http://HOST:6081/]
vcl 4.1;

import xkey;

backend darkroom {
    .host = "127.0.0.1";
    .port = "8080";
    # Longer than Darkroom's request-timeout of 30 s.
    .first_byte_timeout = 35s;
}

# The nodes of Darkroom.
acl darkroom_nodes {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    if (req.method == "PURGE" || req.method == "BAN") {
        if (client.ip !~ darkroom_nodes) {
            return (synth(403));
        }
        if (req.method == "BAN" && req.http.xkey-purge) {
            # One tag between blanks, as a regular expression in which other characters stand for any one.
            ban("obj.http.xkey ~ (^|[^!-~])" + regsuball(req.http.xkey-purge, "[^A-Za-z0-9_-]", ".") + "([^!-~]|$)");
        } elseif (req.http.xkey-softpurge) {
            set req.http.n = xkey.softpurge(req.http.xkey-softpurge);
        } elseif (req.http.xkey-purge) {
            set req.http.n = xkey.purge(req.http.xkey-purge);
        } else {
            return (synth(400));
        }
        return (synth(200));
    }
    # Which formats a client takes, as four values at most. Only queries without an output depend on it.
    if (req.http.Accept ~ "image/avif" && req.http.Accept ~ "image/webp") {
        set req.http.Accept = "image/avif,image/webp,image/png,*/*";
    } elseif (req.http.Accept ~ "image/avif") {
        set req.http.Accept = "image/avif,image/png,*/*";
    } elseif (req.http.Accept ~ "image/webp") {
        set req.http.Accept = "image/webp,image/png,*/*";
    } else {
        set req.http.Accept = "image/png,*/*";
    }
}

sub vcl_backend_response {
    # A soft purge leaves images to serve while they are fetched again.
    set beresp.grace = 10s;
}

sub vcl_deliver {
    set resp.http.X-Cache = regsub(obj.hits, "^0$", "MISS");
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    }
    unset resp.http.xkey;
}
