extension ProblemKind {
    /// Why it happens, in a sentence or two for who sent the request.
    var cause: String {
        switch self {
        case .invalidParameter:
            "A parameter of the query is unknown, was given twice, or has a value that it can't have or that goes beyond this server's limits."
        case .invalidURL: "The address of the source is no absolute URL, or of a kind that is not fetched here."
        case .sourceNotAllowed:
            "The source's host, port or address may not be contacted. Private and other special addresses never may, unless whoever runs this server allows them."
        case .refreshNotAllowed:
            "The request would have the origin asked although there may be a fresh answer. Anybody who could do that could stampede an origin."
        case .invalidBody:
            "What was posted is no JSON of the form that is taken here, or asks for something that can't be had."
        case .gpsNotAllowed: "The request asks where a picture was taken, and this server tells that to nobody."
        case .adminDisabled: "What only whoever runs this server may do is switched off: no admin token is set."
        case .adminTokenWrong: "The request came without the admin token, or with another one."
        case .signatureRequired:
            "This server answers only requests that are signed by one of its keys, and this one is not."
        case .signatureWrong:
            "The signature does not fit the request: a parameter was added, left out or changed after it was signed, or the key is none of this server's."
        case .signatureExpired: "The request was signed to be good until a certain time, and that is past."
        case .presetsOnly:
            "Parameters may not be chosen freely here, or not with this key: pictures are made by the presets that the server names."
        case .sourceNotFound:
            "The origin said 404 or 410, or there is no such local file. That is remembered for a while."
        case .noSuchRoute: "The path is none of this server's, or none of those that it answers at this port."
        case .methodNotAllowed: "The path exists, but does not take this method."
        case .noSuchJob:
            "There is no prefetching job of this id: there never was one, or it ended more than an hour ago."
        case .bodyTooLarge: "The body has more bytes than are read."
        case .unsupportedBody: "The body is not declared as JSON."
        case .sourceTooLarge: "The source has more bytes, pixels or frames than this server takes."
        case .targetTooLong: "Path and query together are longer than is read."
        case .unsupportedImage:
            "The source's bytes are no picture of a kind that is decoded here. Names and content types do not count."
        case .corruptImage:
            "The source looks like a picture, but could not be decoded to its last row: it is damaged, cut off, or not what it claims to be."
        case .internalError: "Something failed on this server that should not have."
        case .originFailed:
            "The origin could not be reached, broke off, or answered with something other than a picture."
        case .originUnavailable: "The origin's host failed so often in a row that it is given a rest."
        case .overloaded: "There is more to do than this server has room to queue."
        case .unavailable: "The server is starting or going down."
        case .cacheUnavailable:
            "The folder of the disk cache can't be read or written, or is gone. Pictures are answered all the same, but nothing is kept on disk."
        case .originTimeout: "The origin did not deliver the source in time."
        case .timeout: "Download, queue and work together took longer than a request may."
        case .notCached:
            "Only an answer from the cache was wanted ('only-if-cached'), and there is none that may be used."
        case .loop: "The source leads back to this server, directly or through others."
        }
    }

    /// What to do about it.
    var cure: String {
        switch self {
        case .invalidParameter:
            "The detail says what is allowed for the parameter that it names. Correct it; trying again as it is won't help."
        case .invalidURL:
            "Give 'url' as an absolute http or https URL, percent-encoded as a whole, so that its own '&' and '#' are not taken for ours."
        case .sourceNotAllowed:
            "Use a public address. If the source is yours and this server too: 'allow-hosts', 'allow-ports', 'allow-networks' and 'local-root' say what may be asked."
        case .refreshNotAllowed:
            "Leave 'cache' out, send the admin token as 'Authorization: Bearer TOKEN', or have 'allow-forced-refresh' set on this server."
        case .invalidBody:
            "The detail says what is wrong with the member that it names. Correct it; trying again as it is won't help."
        case .gpsNotAllowed: "Leave 'gps' out, or have 'allow-gps' set on this server."
        case .adminDisabled:
            "Set 'admin-token', or give administration a port of its own with 'admin-port', and start the server again."
        case .adminTokenWrong: "Send the server's admin token as 'Authorization: Bearer TOKEN'."
        case .signatureRequired:
            "Have whoever has a key sign the address, for example with 'darkroom sign'; README says how programs do it. With the admin token no signature is needed."
        case .signatureWrong:
            "Sign the very request that is sent: its path, and all parameters but 's' as they are decoded. Check that 's' names a key of this server, and that nothing on the way rewrites addresses."
        case .signatureExpired:
            "Get the address anew from whoever signed it; 'exp' is in seconds since 1970, and clocks may differ."
        case .presetsOnly: "Give 'url' and 'preset' alone. Whoever runs this server adds presets with 'presets'."
        case .sourceNotFound:
            "Check the address in a browser. Once the picture is there, the answer comes back by itself, at once with 'cache=reload'."
        case .noSuchRoute: "Pictures are at /image. /openapi.yaml describes every path that there is."
        case .methodNotAllowed: "Use one of the methods that the answer's 'Allow' field lists."
        case .noSuchJob: "Post the job again: what it cached is found at once."
        case .bodyTooLarge: "Post several smaller jobs."
        case .unsupportedBody: "Send JSON, and 'Content-Type: application/json' with it."
        case .sourceTooLarge:
            "Use a smaller source; for animations and documents ask for fewer frames with 'n'. The limits are 'max-source-bytes', 'max-source-pixels', 'max-animation-pixels' and 'max-frames'."
        case .targetTooLong: "Shorten the source's URL."
        case .unsupportedImage:
            "Use JPEG, PNG, WebP, GIF, AVIF, HEIC, JPEG XL, TIFF or SVG. An HTML page about a picture is none."
        case .corruptImage:
            "Open the source in an editor and save it anew, or upload it again. Then ask with 'cache=reload', or wait."
        case .internalError:
            "Try again. If it stays, tell whoever runs this server the request's id, which is the problem's 'instance': the log says more under it."
        case .originFailed:
            "The detail says what the origin did. Check that it answers, and with a picture; the failure is remembered only for seconds."
        case .originUnavailable, .overloaded, .unavailable: "Try again after the seconds that 'Retry-After' gives."
        case .cacheUnavailable:
            "Let the load balancer send requests elsewhere, and look at the volume of 'cache-dir': the log says what fails. The server finds out by itself when it works again."
        case .originTimeout: "Try again later. The limits are 'connect-timeout' and 'download-timeout'."
        case .timeout:
            "Try again, or ask for less: fewer frames, a smaller picture, a cheaper format. The limit is 'request-timeout'."
        case .notCached: "Ask without 'only-if-cached'."
        case .loop: "Give the address of the original picture instead of one of this server's."
        }
    }
}
