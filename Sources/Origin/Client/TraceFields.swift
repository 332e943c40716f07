import HTTPTypes
import ServiceContextModule
import Tracing

extension HTTPFields {
    /// What carries the current task's trace on to an origin, by the instrument that the process was set up with; nothing for work in the
    /// background, which may outlive the request that caused it and serves others. A download that several wait for carries the trace
    /// of the one who came first.
    static func trace(
        for request: OriginRequest, by instrument: any Instrument = InstrumentationSystem.instrument
    ) -> HTTPFields {
        var fields = HTTPFields()
        guard request.urgency() != .background, let context = ServiceContext.current else { return fields }
        instrument.inject(context, into: &fields, using: FieldInjector())
        return fields
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key), HTTPField.isValidValue(value) else { return }
        fields[name] = value
    }
}
