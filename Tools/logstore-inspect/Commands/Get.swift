import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Shows one object and what it is put together from.
struct Get: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows an object, and the chain of records that made it what it is.",
    discussion: """
      The chain goes back, newest first, to the insertion, or to where it was packed by a compaction. Of each \
      record the columns it wrote are shown, before → after. A deleted object is shown as it was.

      EXAMPLES:
        logstore-inspect get trips.store Trip 17
        logstore-inspect get trips.store Trip/17 --at 40
        logstore-inspect get trips.store Trip/17 --format json | jq .values

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Argument(help: "The object: an entity and a key, as Trip 17 or Trip/17.")
  var object: [String]

  @Option(help: ArgumentHelp("Show the store as of this commit.", valueName: "commit"))
  var at: UInt64?

  @Flag(help: "Show all of each value of bytes.")
  var fullBytes = false

  var path: String { store.path }

  func run(in console: Console) throws {
    try show(try InspectedStore(store, visible.visibility, at: at, in: console), in: console)
  }

  /// Shows the object in a store that is open.
  func show(_ store: InspectedStore, in console: Console) throws {
    let (_, reference) = try store.row(object)
    var decoder = RowDecoder(of: store, bytes: fullBytes ? .all : .beginning)
    var cells: [RowDecoder.Cell]?
    do {
      cells =
        try store.view.withRow(reference) {
          decoder.cells(of: $0, layout: $1, table: reference.table, as: .ofEntity)
        } ?? nil
    } catch let error as StorageError {
      store.recordDamage(error, of: reference)
    }
    var changes: [LoggedChange] = []
    do {
      changes = try store.engine.history(of: reference)
        .filter { $0.sequence <= store.view.sequence }
    } catch let error as StorageError {
      store.recordDamage(error)
    }
    if cells == nil, changes.isEmpty, store.damage == nil {
      throw unknownKey(reference, in: store)
    }
    let printer = ObjectPrinter(store, console, output.format)
    try printer.print(reference, cells, changes, &decoder)
    try store.finish()
  }

  private func unknownKey(_ reference: RowReference, in store: InspectedStore) -> ToolError {
    let next = store.engine.nextKey(in: reference.table)
    return ToolError(
      "there is no such object",
      place: path,
      expected: next > 1 ? "a key from 1 to \(next - 1)" : "nothing: the entity has no objects",
      found: store.name(of: reference).printable,
      advice: next > reference.key
        ? "it is gone, and what it was has been packed" : "`logstore-inspect dump` lists keys"
    )
  }
}
