#if PostgreSQL
import ModelRuntime
import RowFormat

/// The references with an inverse that one save writes, and the rows it deletes that others may refer to.
///
/// Both are checked after the changes, in the same transaction. A row that is referred to is locked against its
/// deletion, and a deleted row is locked by being deleted: of a save that refers to a row and one that deletes it, the
/// second waits for the first, and then sees what it did.
struct ReferenceCheck {
  private var written: [DanglingReferences.Reference] = []
  private var inserted: Set<RowReference> = []
  private var deleted: [RowReference] = []

  mutating func recordInsertion(of row: RowReference) { inserted.insert(row) }
  mutating func record(_ reference: DanglingReferences.Reference) { written.append(reference) }
  mutating func recordDeletion(of row: RowReference) { deleted.append(row) }

  /// The rows that have to be there, by table.
  private var targets: [UInt16: [RowReference]] {
    let wanted = Set(written.lazy.map(\.target)).subtracting(inserted)
    return Dictionary(grouping: wanted.sorted(), by: \.table)
  }

  private var deletedByTable: [UInt16: [RowReference]] {
    Dictionary(grouping: deleted, by: \.table)
  }

  /// The question about the references of one table: which of these rows are there, or who refers to them.
  enum Question {
    case targets([RowReference])
    case referrers(column: Int)
  }

  /// The questions to the server, with the way to read the answers.
  func questions(_ tables: TableMap) -> [(question: Question, statement: Statement)] {
    if written.isEmpty, deleted.isEmpty { return [] }
    var questions: [(Question, Statement)] = []
    for (number, rows) in targets.sorted(by: { $0.key < $1.key }) {
      guard let table = tables.table(numbered: number) else { continue }
      let statement = Statement(
        "SELECT \(MappedTable.key) FROM \(table.name) WHERE \(MappedTable.key) = ANY ($1) "
          + "ORDER BY 1 FOR KEY SHARE"
      ) { $0.append(rows.map { Int64(bitPattern: $0.rawValue) }) }
      questions.append((.targets(rows), statement))
    }
    for (number, rows) in deletedByTable.sorted(by: { $0.key < $1.key }) {
      for referrer in tables.referrers(of: number) {
        let column = referrer.column.name.quotedName
        let statement = Statement(
          "SELECT \(MappedTable.key), \(column) FROM \(referrer.table.name) "
            + "WHERE \(column) = ANY ($1) ORDER BY 1"
        ) { $0.append(rows.map { Int64(bitPattern: $0.rawValue) }) }
        questions.append((.referrers(column: referrer.column.position), statement))
      }
    }
    return questions
  }

  /// Returns the references that would dangle, from the answers; `nil` if there are none.
  func dangling(_ answers: [(question: Question, result: StatementResult)]) -> DanglingReferences? {
    var missing: Set<RowReference> = []
    var toDeleted: [DanglingReferences.Reference] = []
    for (question, result) in answers {
      switch question {
      case .targets(let rows):
        missing.formUnion(rows)
        for row in 0..<result.rowCount { missing.remove(reference(result, row, 0)) }
      case .referrers(let column):
        for row in 0..<result.rowCount {
          toDeleted.append(
            .init(
              row: reference(result, row, 0),
              column: column,
              target: reference(result, row, 1)
            )
          )
        }
      }
    }
    let toMissing = missing.isEmpty ? [] : written.filter { missing.contains($0.target) }
    // A row that the save itself refers to and deletes is missing, too; it is found among the rows that refer to it.
    if toMissing.isEmpty && toDeleted.isEmpty { return nil }
    let isMissing = Set(toMissing)
    return DanglingReferences(
      toDeletedRows: toDeleted.filter { !isMissing.contains($0) },
      toMissingRows: toMissing
    )
  }

  private func reference(_ result: StatementResult, _ row: Int, _ column: Int) -> RowReference {
    RowReference(rawValue: UInt64(bitPattern: result.integer(row, column)))
  }
}
#endif
