import Foundation
import ModelRuntime
import PostgresStore

/// Appends to the lists of the only reader in a store, and gives it another card, again and again.
///
///     Appender URL NAMESPACE NAME COUNT
///
/// A process of its own, which shares nothing with others but the server. It prints "ready" once the store is open,
/// and begins when standard input ends.
@main struct Appender {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let count = Int(arguments[4]) else {
      print("usage: Appender URL NAMESPACE NAME COUNT")
      exit(2)
    }
    var configuration = PostgresStoreConfiguration(url: arguments[1], namespace: arguments[2])
    configuration.reconnectBudget = .seconds(600)
    let container = try ModelContainer(
      for: Schema([Reader.self, Club.self, Note.self, Card.self]),
      configurations: [configuration]
    )
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    _ = try FileHandle.standardInput.readToEnd()
    try append(count, as: arguments[3], in: container)
  }

  /// Makes saves, each in a context of its own.
  static func append(_ count: Int, as name: String, in container: ModelContainer) throws {
    for number in 0..<count {
      let context = ModelContext(container)
      guard let reader = try context.fetch(FetchDescriptor<Reader>()).first else { exit(3) }
      reader.notes.append(Note("\(name) \(number)"))
      reader.clubs.append(Club("\(name) \(number)"))
      reader.card = Card("\(name) \(number)")
      try context.save()
    }
  }
}
