import LogEngine
import LogTools
import RowFormat
import Terminal

/// A problem of a store in words.
struct ProblemDescription {
  static let fields = ["severity", "path", "offset", "problem", "expected", "found"]

  let severity: VerificationProblem.Severity
  let path: String
  let offset: Int?
  let what: String
  let expected: String?
  let found: String?
  /// The name of a group of problems: of many, only the first are listed.
  let group: String?

  init(_ problem: VerificationProblem, _ store: InspectedStore?) {
    severity = problem.severity
    path = problem.path
    offset = problem.offset
    func row(_ reference: RowReference) -> String {
      store?.name(of: reference).printable ?? "row \(reference.key) of table \(reference.table)"
    }
    group =
      switch problem.kind {
      case .wrongLocation(let row): "index \(row.table)"
      case .unreadableRow(let row, _): "row \(row.table)"
      case .unreadableBlob(let blob, _): "blob \(blob.owner.table)"
      case .brokenChain: "chain"
      case .orphan: "orphan"
      default: nil
      }
    func table(_ number: UInt16) -> String {
      number == 0 ? "the catalogue" : store?.name(ofTable: number).printable ?? "table \(number)"
    }
    (what, expected, found) =
      switch problem.kind {
      case .damaged(let problem): problem.explanation
      case .unreadable(let error): ("the file cannot be read: \(error.words)", nil, nil)
      case .skipped(let count): ("\(count.grouped) bytes are no frame", nil, nil)
      case .brokenChain(let sequence):
        ("commit \(sequence.rawValue) does not follow what stands before it", nil, nil)
      case .torn(let count):
        ("\(count.grouped) bytes are left of a commit that was never acknowledged", nil, nil)
      case .unfinished: ("a segment was being made when the writer stopped", nil, nil)
      case .damagedCheckpoint(let error):
        ("a checkpoint cannot be used: \(error.words)", nil, nil)
      case .damagedSecondaryIndex(let error):
        ("a secondary index cannot be used: \(error.words)", nil, nil)
      case .orphan: ("the file belongs to nothing", nil, nil)
      case .wrongLocation(let reference):
        ("the index has \(row(reference)) at another place than the log", nil, nil)
      case .unreadableRow(let reference, let error):
        ("\(row(reference)) cannot be read: \(error.words)", nil, nil)
      case .unreadableBlob(let blob, let error):
        (
          "\(store?.name(of: blob.owner, column: blob.column) ?? row(blob.owner)), blob \(blob.reference.id.rawValue), "
            + "cannot be read: \(error.words)", nil, nil
        )
      case .wrongRowCount(let number, let counted, let found):
        ("the rows of \(table(number)) are counted wrongly", "\(found)", "\(counted)")
      case .wrongLiveByteCount(let segment, let number, let counted, let found):
        (
          "the live bytes of \(table(number)) in segment \(segment.rawValue) are counted wrongly",
          "\(found)", "\(counted)"
        )
      case .wrongCatalogue: ("the catalogue in memory is not the log's", nil, nil)
      }
  }

  /// A reference to a row that is not there, or of another entity than the column's.
  init(_ problem: ReferenceCheck.Problem, _ store: InspectedStore?) {
    severity = .harmless
    group = "reference \(problem.owner.table) \(problem.column) \(problem.expected ?? "")"
    path = store?.path ?? ""
    offset = nil
    let owner = store?.name(of: problem.owner).printable ?? "\(problem.owner)"
    let target = store?.name(of: problem.target).printable ?? "\(problem.target)"
    let reference = "\(owner).\(problem.column.printable) refers to \(target)"
    guard let entity = problem.expected else {
      what = reference + ", which is not there"
      (expected, found) = (nil, nil)
      return
    }
    what = reference + ", a row of another entity"
    expected = "a row of \(entity.printable)"
    found = target
  }

  /// A reference to a row that does not refer back.
  init(_ contradiction: EndCheck.Contradiction, _ store: InspectedStore?) {
    severity = .harmless
    group = "ends \(contradiction.owner.table) \(contradiction.column)"
    path = store?.path ?? ""
    offset = nil
    let owner = store?.name(of: contradiction.owner).printable ?? "\(contradiction.owner)"
    let target = store?.name(of: contradiction.target).printable ?? "\(contradiction.target)"
    what =
      "\(owner).\(contradiction.column.printable) refers to \(target), whose \(contradiction.inverse.printable) does "
      + "not refer back"
    (expected, found) = (nil, nil)
  }

  /// The problem in a line: its description, then its place.
  var text: String {
    var text = what
    if let expected, let found { text += ", expected \(expected), found \(found)" }
    text += "\n        in \(path)"
    if let offset { text += ", byte \(offset)" }
    return text
  }

  var item: JSONValue {
    [
      "severity": .string(severity == .damage ? "damage" : "harmless"), "path": .string(path),
      "offset": offset.map { .integer(Int64($0)) } ?? .null, "problem": .string(what),
      "expected": expected.map(JSONValue.string) ?? .null,
      "found": found.map(JSONValue.string) ?? .null,
    ]
  }
}

extension InspectedStore {
  /// A value in a file of its own as people name it: `Trip/17.photo`.
  func name(of owner: RowReference, column: UInt16) -> String {
    let name = catalogue.table(owner.table)?.column(column)?.name ?? "column \(column)"
    return (self.name(of: owner) + "." + name).printable
  }
}
