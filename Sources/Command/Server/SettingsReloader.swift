import DarkroomOrigin
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import DarkroomWeb
import Foundation
import Logging
import UnixSignals

/// Applies changed settings to a running server, whose connections stay open.
///
/// Routes and the guard of sources are rebuilt from the settings, and each request uses the routes that it began with.
/// So no part of the server has to watch a setting.
struct SettingsReloader: Sendable {
    private(set) var settings: Settings
    let sources: @Sendable () throws(SettingError) -> SettingSources
    /// The configuration at startup.
    let web: WebConfiguration
    let client: GuardedHTTPClient
    let listeners: Listeners
    let log: LogWriter
    let logger: Logger

    /// Reloads at each SIGHUP until the task is canceled, also at a SIGHUP that came before the listeners were up. The
    /// end of the terminal is a request to stop.
    func follow(_ hangups: UnixSignalsSequence) -> Task<Void, Never> {
        let hadTerminal = isatty(STDIN_FILENO) == 1
        return Task {
            var reloader = self
            for await _ in hangups {
                if hadTerminal, isatty(STDIN_FILENO) == 0 {
                    kill(getpid(), SIGTERM)
                } else {
                    reloader.reload()
                }
            }
        }
    }

    /// Reads the sources of the settings again. If they are invalid, everything stays as it is.
    private mutating func reload() {
        do throws(SettingError) {
            let (new, unchanged) = try settings.reloaded(from: sources())
            log.level = new.logging.level
            client.vet(by: new.clientSettings)
            var configuration = new.webConfiguration
            configuration.setUnwritable(web.limits.unwritable)
            configuration.uploads = web.uploads
            configuration.accounts = web.accounts
            configuration.missingPermission = web.missingPermission
            listeners.answer(by: configuration)
            report(new, unchanged)
            settings = new
        } catch {
            logger.error("reload failed, so the settings stay as they are", metadata: ["reason": "\(error)"])
        }
    }

    private func report(_ new: Settings, _ unchanged: [String]) {
        let changed = SettingsTable.rows.filter { $0.differs(in: settings.values, new.values) }.map(\.name)
        var fields: Logger.Metadata = [
            "changed": "\(changed.isEmpty ? "none" : changed.joined(separator: ","))",
            "signing-keys": .stringConvertible(new.accessRules.signingKeys.count),
        ]
        if !unchanged.isEmpty { fields["restart-needed"] = "\(unchanged.joined(separator: ","))" }
        logger.log(level: unchanged.isEmpty ? .info : .warning, "reloaded", metadata: fields)
    }
}

extension WebConfiguration {
    /// - Parameter formats: the formats that this machine cannot write.
    mutating func setUnwritable(_ formats: Set<OutputFormat>) {
        limits.unwritable = formats
        negotiation.unwritable = FormatList(FormatList.candidates.filter(formats.contains)) ?? FormatList()
    }
}
