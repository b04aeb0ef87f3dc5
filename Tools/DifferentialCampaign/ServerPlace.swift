import ModelRuntime
import QueryDifferential

#if PostgreSQL
import PostgresStore

/// A namespace of a server, which is emptied for each store.
struct ServerPlace: ShelfPlace {
  static let namespace = "logstore_differential"
  static let isAvailable = true

  private let server: PostgresStoreConfiguration

  init(url: String) throws {
    server = PostgresStoreConfiguration(url: url, namespace: Self.namespace)
    let container = try ModelContainer(
      for: Differential.schema,
      configurations: [server]
    )
    for store in container.stores(of: PostgresStore.self) { try store.erase() }
  }

  var configuration: any DataStoreConfiguration { server }
  func compact() throws {}
  func remove() {}
}
#else
/// A build without the trait PostgreSQL knows no servers.
struct ServerPlace: ShelfPlace {
  static let namespace = "logstore_differential"
  static let isAvailable = false

  private struct Unavailable: Error {}

  init(url: String) throws { throw Unavailable() }

  var configuration: any DataStoreConfiguration {
    preconditionFailure("there is no such place")
  }
  func compact() throws {}
  func remove() {}
}
#endif
