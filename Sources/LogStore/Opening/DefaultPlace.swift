import Foundation
import LogEngine
import ModelRuntime

/// The choice between two places for a configuration that names none.
///
/// Each program has a place of its own. Versions before 0.1 had one for all programs of a user, and a program that kept
/// its models there still does so: if it has no store at its own place, if the old one holds no entities but its own
/// and can be brought to its schema, and if no other program has claimed it. The first program that opens it claims it,
/// by a note in the catalogue.
struct DefaultPlace {
  private static let programKey = "store.program"
  let program: String
  let former: URL

  /// The place of a configuration that names none; `nil` if it names one.
  init?(_ configuration: ModelConfiguration) {
    guard let former = configuration.formerURL else { return nil }
    self.former = former
    program = ModelConfiguration.program
  }

  init(former: URL, program: String) {
    self.former = former
    self.program = program
  }

  /// Whether the program's store is at the old place.
  func isFormer(_ request: StoreRequest) -> Bool {
    guard !FileManager.default.fileExists(atPath: request.url.path),
      FileManager.default.fileExists(atPath: former.path)
    else { return false }
    var options = EngineOptions()
    options.mode = .readOnly
    // A store that cannot be read is not this program's to open.
    guard let engine = try? StorageEngine.open(at: former.path, options: options) else {
      return false
    }
    let catalogue = engine.catalogue
    if let owner = owner(in: catalogue) { return owner == program }
    let names = Set(request.schema.entities.map(\.name))
    guard !catalogue.tables.isEmpty, catalogue.tables.allSatisfy({ names.contains($0.name) }) else {
      return false
    }
    return (try? request.migration.rehearse(catalogue)) != nil
  }

  /// Notes that the store at the old place is this program's.
  func claim(_ engine: StorageEngine) throws {
    guard owner(in: engine.catalogue) == nil else { return }
    try engine.apply([.setMetadata(key: Self.programKey, value: Array(program.utf8))])
  }

  private func owner(in catalogue: Catalogue) -> String? {
    catalogue.metadata[Self.programKey].map { String(decoding: $0, as: UTF8.self) }
  }
}
