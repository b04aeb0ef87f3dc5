import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Lists values that are in files of their own.
struct BlobsCommand: InspectCommand {
  static let configuration = CommandConfiguration(
    commandName: "blobs",
    abstract: "Lists values in files of their own: owner, size, state.",
    discussion: """
      Files are opened and their headers compared with the rows; with --check every byte is read. A file \
      that no row owns is on its way out, or just being written, or was left by a crash. The bytes themselves \
      are never printed; with --export each value is copied to a file of a folder, named after its row and \
      column, and checked on the way. A file of that name that is there already is not replaced.

      EXAMPLES:
        logstore-inspect blobs trips.store
        logstore-inspect blobs trips.store --check
        logstore-inspect blobs trips.store --entity Photo --format csv
        logstore-inspect blobs trips.store --entity Photo --export photos

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  @Option(
    help: ArgumentHelp("Only values of this entity.", valueName: "name"),
    completion: .entity
  )
  var entity: String?

  @Flag(help: "Read every byte and compare it with its checksum.")
  var check = false

  @Option(
    help: ArgumentHelp("Copy each value to a file in this folder.", valueName: "folder"),
    completion: .directory
  )
  var export: String?

  var path: String { store.path }

  func run(in console: Console) throws {
    let store = try InspectedStore(store, .all, in: console)
    let table = try entity.map { try store.table(named: $0) }
    let exporter = try export.map { try BlobExporter(to: $0, on: console.fileSystem) }
    var files = try StoreFiles(under: store.path, on: console.fileSystem).blobs
    var listing = Listing([
      .init(title: "blob", name: "blob", alignment: .right), .init(title: "value", name: "value"),
      .init(title: "size", name: "bytes", alignment: .right),
      .init(title: "file", name: "file", importance: .optional),
      .init(title: "state", name: "state"),
    ])
    var damaged: (name: String, error: StorageError)?
    try store.forEachBlob { blob in
      let file = files.removeValue(forKey: blob.reference.id)
      if let table, blob.owner.table != table.number { return .proceed }
      let state = try exporter?.export(blob, of: store) ?? state(of: blob, in: store)
      let name = store.name(of: blob.owner, column: blob.column)
      if let state, damaged == nil { damaged = (name, state) }
      listing.append([
        .number(blob.reference.id.rawValue), .text(name),
        .bytes(blob.reference.byteCount), .text(file?.name),
        .text(
          state.map { "unreadable: \($0.words)" } ?? "ok"
        ),
      ])
      return .proceed
    }
    if table == nil {
      for (id, file) in files.sorted(by: { $0.key < $1.key }) {
        listing.append([
          .number(id.rawValue), .none, .bytes(file.byteCount), .text(file.name), .text("unowned"),
        ])
      }
    }
    if output.format == .text {
      print(listing, console)
    } else {
      listing.printItems(to: console, output.format)
    }
    if let damaged {
      var error = ToolError(damaged.error, at: store.path)
      error.what = "\(damaged.name) cannot be read: \(damaged.error.words)"
      if !damaged.error.isSystemFailure { error.status = .damaged }
      throw error
    }
    try store.finish()
  }

  /// Why a value cannot be read; `nil` if it can.
  private func state(of blob: StoredValue, in store: InspectedStore) -> StorageError? {
    do {
      let opened = try store.view.openBlob(blob.reference)
      if check { try opened.check() }
      return nil
    } catch {
      return error as? StorageError
    }
  }

  private func print(_ listing: Listing, _ console: Console) {
    guard !listing.isEmpty else { return console.line("no blobs") }
    console.print(
      listing.table { _, title, text in
        guard title == "state", text != "ok" else { return text }
        return console.styled(text, text == "unowned" ? .yellow : .red)
      }
    )
  }
}

/// A value of a row in a file of its own.
struct StoredValue {
  let reference: BlobReference
  let owner: RowReference
  let column: UInt16
}

extension InspectedStore {
  /// Visits the values in side files of the rows that can be read.
  fileprivate func forEachBlob(_ body: (StoredValue) throws -> ScanControl) throws {
    for table in catalogue.tables where table.columns.contains(where: { $0.type == .blob }) {
      try forEachRow(of: table) { key, number, row in
        guard let layout = table.layout(number) else { return .proceed }
        var blobs: [StoredValue] = []
        layout.layout.forEachBlob(in: row) { column, reference in
          let owner = RowReference(table: table.number, key: key)
          blobs.append(
            StoredValue(reference: reference, owner: owner, column: layout.columns[column])
          )
        }
        for blob in blobs where try body(blob) == .stop { return .stop }
        return .proceed
      }
    }
  }
}
