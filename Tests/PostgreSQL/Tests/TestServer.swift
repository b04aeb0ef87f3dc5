import Foundation
import ModelRuntime
import PostgresStore

/// The server of the tests: one for all of them, in a temporary folder, on a socket.
///
/// `LOGSTORE_POSTGRES_URL` names another one to be used instead.
final class TestServer: Sendable {
  let url: String
  /// The folder that has its socket; `nil` for a server that is used instead.
  let folder: String?
  private let process: Process?
  /// The server ends with whoever holds this end of the pipe.
  private let lifeline: Pipe

  static let shared = Result { try TestServer() }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Whether the tests start the server themselves, and can put something between it and a store.
  static let isOwn = ProcessInfo.processInfo.environment["LOGSTORE_POSTGRES_URL"] == nil

  private init() throws {
    lifeline = Pipe()
    if let url = ProcessInfo.processInfo.environment["LOGSTORE_POSTGRES_URL"] {
      self.url = url
      folder = nil
      process = nil
      return
    }
    // Short: the path of a socket has at most 107 bytes.
    let folder = "/tmp/logstore-postgres-\(ProcessInfo.processInfo.processIdentifier)"
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "server")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [script.path, folder]
    let output = Pipe()
    process.standardInput = lifeline
    process.standardOutput = output
    try process.run()
    guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
      throw Failure(description: "the server in \(folder) did not start; see its log.txt")
    }
    self.process = process
    self.folder = folder
    url = "host=\(folder) user=postgres dbname=postgres"
  }
}

/// A namespace of the server that no other test uses.
struct TestNamespace {
  let server: TestServer
  /// The address by which stores come to it: the server's, or that of what stands between.
  let url: String
  let name: String

  /// - Parameter way: The address of what stands between the stores and the server; by default nothing does.
  /// - Throws: What keeps the server from starting.
  init(by way: String? = nil) throws {
    server = try TestServer.shared.get()
    url = way ?? server.url
    name = "t" + UUID().uuidString.filter { $0 != "-" }.lowercased()
  }

  /// The store's sessions bear the name of the namespace, and an operation may take as long as a busy machine needs.
  var configuration: PostgresStoreConfiguration {
    let name = "application_name=\(name)"
    let url =
      url.contains("://") ? url + (url.contains("?") ? "&" : "?") + name : "\(url) \(name)"
    var configuration = PostgresStoreConfiguration(url: url, namespace: self.name)
    configuration.reconnectBudget = .seconds(600)
    return configuration
  }

  /// The same, with settings of the server for its sessions.
  func configuration(with settings: [String]) -> PostgresStoreConfiguration {
    let plain = configuration
    let options = settings.map { "-c \($0)" }.joined(separator: " ")
    let url =
      plain.url.contains("://")
      ? "\(plain.url)&options=\(options.replacing(" ", with: "%20").replacing("=", with: "%3D"))"
      : "\(plain.url) options='\(options)'"
    var configuration = PostgresStoreConfiguration(url: url, namespace: name)
    configuration.reconnectBudget = plain.reconnectBudget
    return configuration
  }

  /// A container over the namespace, with sessions of its own.
  func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: [configuration])
  }
}
