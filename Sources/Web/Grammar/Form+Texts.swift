import DarkroomNetwork
import DarkroomTransforms

/// Forms that have a little syntax of their own.
extension Form where Value == String {
    static var url: Form { Form(.url) { $0 } }

    /// A file name that needs no quoting anywhere and that no system hides.
    static var fileName: Form {
        Form(
            .text(
                pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$",
                allowed: "a name of up to 100 letters A-Z and a-z, digits, -, _ and ., not beginning with .")
        ) { text in
            let isName = (1...100).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            return isName && text.utf8.allSatisfy(\.isPlainNameCharacter) ? text : nil
        }
    }
}

extension Form where Value == Crop {
    /// `x,y,w,h` in pixels. Whether they lie within the picture shows only once there is one.
    static var rectangle: Form {
        Form(
            .text(
                pattern: "^[0-9]{1,9},[0-9]{1,9},[0-9]{1,9},[0-9]{1,9}$",
                allowed: "x,y,w,h in whole pixels of the upright source, w and h at least 1")
        ) { text in
            let sides = text.split(separator: ",", omittingEmptySubsequences: false).map { Digits.integer(String($0)) }
            guard sides.count == 4, let x = sides[0], let y = sides[1], let width = sides[2], let height = sides[3],
                x >= 0, y >= 0, width >= 1, height >= 1
            else { return nil }
            return Crop(x: x, y: y, width: width, height: height)
        }
    }
}

extension Form where Value == Duration {
    /// `1s`…`1y` in seconds, minutes, hours, days, weeks or years of 365 days.
    static var freshness: Form {
        Form(
            .text(
                pattern: "^[0-9]{1,8}[smhdwy]$",
                allowed: "a time from 1s to 1y, as a whole number with the unit s, m, h, d, w or y")
        ) { text in
            guard let unit = text.last.flatMap({ units[$0] }), text.utf8.count <= 9,
                let count = Digits.integer(String(text.dropLast())), count >= 0
            else { return nil }
            let seconds = count * unit
            return (1...31_536_000).contains(seconds) ? .seconds(seconds) : nil
        }
    }

    private static var units: [Character: Int] {
        ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000]
    }
}

extension Form where Value == Orient.Rule {
    static var orientation: Form {
        // Orientation 1 is that of pixels which are upright as they are stored.
        .choice([
            "auto": .auto, "none": .none, "1": .none, "2": .exif(2), "3": .exif(3), "4": .exif(4), "5": .exif(5),
            "6": .exif(6), "7": .exif(7), "8": .exif(8),
        ])
    }
}

/// A word for a place, before `fpx` and `fpy` are known.
enum PlaceName: Hashable, Sendable {
    case position(Position)
    case focal
}

extension Form where Value == PlaceName {
    /// The aliases are those of weserv/images, and the two words in the other order.
    static var place: Form {
        .choice(
            PlaceName.names,
            aliases: [
                "c": .at(0.5, 0.5), "t": .at(0.5, 0), "tr": .at(1, 0), "r": .at(1, 0.5), "br": .at(1, 1),
                "b": .at(0.5, 1), "bl": .at(0, 1), "l": .at(0, 0.5), "tl": .at(0, 0), "right-top": .at(1, 0),
                "right-bottom": .at(1, 1), "left-bottom": .at(0, 1), "left-top": .at(0, 0),
            ])
    }
}

extension PlaceName {
    /// As CSS and sharp have them.
    static let names: KeyValuePairs<String, PlaceName> = [
        "center": .at(0.5, 0.5), "top": .at(0.5, 0), "top-right": .at(1, 0), "right": .at(1, 0.5),
        "bottom-right": .at(1, 1), "bottom": .at(0.5, 1), "bottom-left": .at(0, 1), "left": .at(0, 0.5),
        "top-left": .at(0, 0), "entropy": .position(.entropy), "attention": .position(.attention), "focal": .focal,
    ]

    fileprivate static func at(_ x: Double, _ y: Double) -> PlaceName { .position(.anchor(x: x, y: y)) }
}
