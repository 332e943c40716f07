import DarkroomCVips

/// An argument of a libvips operation. Enumerations are strings of libvips' nicknames, such as `"horizontal"`.
public enum VipsValue: Sendable {
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case doubles([Double])
    case ints([Int])
    case image(VipsImage)
    case images([VipsImage])
    /// An interpolator by its nickname, such as `bicubic`.
    case interpolator(String)
}

extension VipsValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
}

extension VipsValue {
    /// Writes the value into an empty `GValue` for a property of this type; false if the value does not fit.
    func write(to value: inout GValue, as type: GType) -> Bool {
        switch self {
        case .bool(let flag):
            g_value_init(&value, darkroom_type_boolean())
            g_value_set_boolean(&value, flag ? 1 : 0)
        case .int(let number):
            writeNumber(Double(number), to: &value, as: type)
        case .double(let number):
            writeNumber(number, to: &value, as: type)
        case .string(let text):
            return writeText(text, to: &value, as: type)
        case .doubles(let numbers):
            g_value_init(&value, vips_array_double_get_type())
            vips_value_set_array_double(&value, numbers, Int32(clamping: numbers.count))
        case .ints(let numbers):
            g_value_init(&value, vips_array_int_get_type())
            vips_value_set_array_int(&value, numbers.map { Int32(clamping: $0) }, Int32(clamping: numbers.count))
        case .image(let image):
            g_value_init(&value, vips_image_get_type())
            g_value_set_object(&value, image.pointer)
        case .images(let images):
            g_value_init(&value, vips_array_image_get_type())
            vips_value_set_array_image(&value, Int32(clamping: images.count))
            let slots = vips_value_get_array_image(&value, nil)
            for (index, image) in images.enumerated() {
                g_object_ref(image.pointer)
                slots?[index] = image.pointer
            }
        case .interpolator(let name):
            guard let interpolator = vips_interpolate_new(name) else { return false }
            g_value_init(&value, vips_interpolate_get_type())
            g_value_take_object(&value, interpolator)
        }
        return true
    }

    private func writeNumber(_ number: Double, to value: inout GValue, as type: GType) {
        switch darkroom_fundamental(type) {
        case darkroom_type_int():
            g_value_init(&value, darkroom_type_int())
            g_value_set_int(&value, Int32(clamping: Int(number)))
        case darkroom_type_enum():
            g_value_init(&value, type)
            g_value_set_enum(&value, Int32(clamping: Int(number)))
        case darkroom_type_flags():
            g_value_init(&value, type)
            g_value_set_flags(&value, UInt32(clamping: Int(number)))
        case darkroom_type_double():
            g_value_init(&value, darkroom_type_double())
            g_value_set_double(&value, number)
        default:
            g_value_init(&value, vips_array_double_get_type())
            vips_value_set_array_double(&value, [number], 1)
        }
    }

    private func writeText(_ text: String, to value: inout GValue, as type: GType) -> Bool {
        guard darkroom_fundamental(type) == darkroom_type_enum() else {
            g_value_init(&value, darkroom_type_string())
            g_value_set_string(&value, text)
            return true
        }
        let number = vips_enum_from_nick("darkroom", type, text)
        guard number >= 0 else { return false }
        g_value_init(&value, type)
        g_value_set_enum(&value, number)
        return true
    }
}
