import Foundation
import LogStore

extension LogStoreConfiguration {
  /// The configuration of a container that knows as little of others as if it were in a process of its own.
  static func ofAnotherProcess(
    in folder: TemporaryFolder,
    durability: Durability = .relaxed
  ) -> LogStoreConfiguration {
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "store"),
      durability: durability
    )
    configuration.writers = .severalProcesses
    configuration.sharesOpenStore = false
    return configuration
  }
}
