import DarkroomPipeline
import DarkroomQuery

struct FormatSettings: SettingTheme {
    static let title = "Formats"

    let formats = Setting(
        "formats", .formats, default: NegotiationPolicy().formats, isReloadable: true,
        help: """
            Formats that output=auto chooses from, the preferred one first: \(FormatList.names), to clients whose \
            Accept field names them.
            """)
    let avifBudget = Setting(
        "avif-budget", .duration(allowsZero: true), default: PipelineConfiguration().encodingBudget,
        help: """
            Maximum estimated time to encode a negotiated AVIF or JPEG XL before the response. Above it, the first \
            responses have the client's next format, while the preferred format is made in the background. 0 makes all \
            requests wait.
            """)
    let saveDataQuality = Setting(
        "save-data-quality", .optional(.integer(1...100)), default: nil, isReloadable: true,
        help: "Maximum default quality for clients that send 'Save-Data: on'. Vary then includes Save-Data.")
    let clientHints = Setting(
        "client-hints", .boolean, default: NegotiationPolicy().usesClientHints, isReloadable: true,
        help: """
            Whether the fields Sec-CH-Width and Sec-CH-DPR give the size of images whose URL has no width and height, \
            or no dpr. They become part of Accept-CH and Vary, so each size is cached separately.
            """)
}

extension SettingKind where Value == FormatList {
    /// Formats in order, none of them twice.
    static var formats: SettingKind {
        let grammar = "one or more of \(FormatList.names), each once"
        return SettingKind("FORMAT,...", grammar, format: \.text) { value throws(SettingRefusal) in
            guard let list = FormatList(parsing: value.members.map { $0.text ?? $0.shape }.joined(separator: ","))
            else {
                throw .expected(grammar, got: value.text ?? value.shape)
            }
            return list
        }
    }
}
