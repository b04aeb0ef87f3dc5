import ArgumentParser
import Hummingbird
import Logging
import SwiftData

@main
struct TelemetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Telemetry",
    abstract: "Keeps the readings of devices, and answers for them over HTTP."
  )

  @Option(help: ArgumentHelp("The store; in memory, if not given.", valueName: "path"))
  var store: String?
  @Option(help: "The address to listen on.") var host = "127.0.0.1"
  @Option(help: "The port to listen on.") var port = 8080
  @Option(help: ArgumentHelp("Removes readings from the store that are older.", valueName: "days"))
  var keep = 90

  func validate() throws {
    if keep < 1 {
      throw ValidationError("--keep takes a number of days from 1 on; found \(keep)")
    }
  }

  func run() async throws {
    let logger = Logger(label: "telemetry")
    let place = store.map { URL(filePath: $0) }
    let container = try ModelContainer.telemetry(at: place, keeping: keep)
    let outcome = await Result { try await serve(container, logger) }
    // Closed in any case, so that the next start has nothing to recover.
    try await container.close()
    try outcome.get()
  }

  /// Returns once a signal has come and all requests are answered.
  private func serve(_ container: ModelContainer, _ logger: Logger) async throws {
    let service = TelemetryService(container)
    let application = Application(
      router: service.router(),
      configuration: .init(address: .hostname(host, port: port), serverName: "telemetry"),
      logger: logger
    )
    try await application.runService(gracefulShutdownSignals: [.sigterm, .sigint])
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
