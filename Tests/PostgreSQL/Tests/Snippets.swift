import ModelRuntime
import PostgresStore

// The snippets of PostgresStore's articles, so that they are compiled. There is no such server.

private typealias Trip = Journey

private func openOnServer() throws -> ModelContainer {
  let container = try ModelContainer(
    for: Schema([Trip.self]),
    configurations: [
      PostgresStoreConfiguration(
        url: "postgresql://app@db.example.com/trips?sslmode=verify-full",
        namespace: "trips"
      )
    ]
  )
  return container
}
