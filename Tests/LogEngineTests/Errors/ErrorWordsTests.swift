import RowFormat
import Testing

@testable import LogFormat

private let row = RowReference(table: 3, key: 44)
private let path = "/data/trips.store/log/0000000000000007.seg"

/// One of each case, with what its words must name.
private let errors: [(error: StorageError, named: [String])] = [
  (.inputOutput(path: path, operation: .synchronize, errno: 5), [path, "synchronize", "check"]),
  (.noSpace(path: path, needed: 4096), [path, "4096", "make room"]),
  (.missingFile(path: path), [path, "missing", "salvage"]),
  (.unexpectedFile(path: path, expected: .file, found: .link), [path, "a file", "symbolic link"]),
  (.missingStore(path: path), [path, "check the path"]),
  (.notAStore(path: path, found: "a photo"), [path, "a photo"]),
  (.foreignStore(path: path, expected: "Trips", found: "Notes"), [path, "Trips", "Notes"]),
  (.unsupportedVersion(path: path, found: 9, supported: 1), [path, "format 9", "format 1"]),
  (.unsupportedFeatures(path: path, bits: 0x40), [path, "0x40"]),
  (.locked(path: path, holder: "process 7 on vm"), [path, "process 7 on vm"]),
  (
    .corruption(
      Corruption(
        path: path,
        offset: 4136,
        problem: .checksumMismatch(of: .frameHeader, expected: 0xAB, found: 0xCD)
      )
    ), [path, "byte 4136", "frame header", "0x000000ab", "0x000000cd", "salvage"]
  ),
  (
    .poisoned(path: "/data/trips.store", cause: .noSpace(path: path, needed: 8)),
    [path, "the disk is full", "open the store again"]
  ),
  (.networkFileSystem(path: path, type: "nfs4"), [path, "nfs4", "local disk"]),
  (
    .turnTimeout(path: path, waited: .seconds(2), holder: "process 7 on vm"),
    [path, "2.0 seconds", "process 7 on vm", "nothing was written"]
  ),
  (.readOnly(path: path), [path, "open it for writing"]),
  (.closed(path: path), [path, "open it again"]),
  (.missingFolder(path: path), [path, "make that folder first"]),
  (.destinationExists(path: path), [path, "another path"]),
  (.numbersSpent(path: path, limit: 4_194_303), [path, "4194303", "logstore-inspect salvage"]),
  (.unknownCommit(CommitSequence(9), newest: CommitSequence(5)), ["9", "5"]),
  (.commitGone(CommitSequence(9), oldest: CommitSequence(15)), ["9", "15"]),
  (.rowNotFound(row), ["row 44 of table 3"]),
  (.rowExists(row), ["row 44 of table 3", "never used"]),
  (.duplicateRow(row), ["row 44 of table 3", "together"]),
  (.invalidRow(row, layout: LayoutNumber(2)), ["row 44 of table 3", "layout 2"]),
  (.unknownLayout(table: 3, layout: LayoutNumber(2)), ["table 3", "layout 2"]),
  (.unknownTable(3), ["table 3", "catalogue"]),
  (
    .foreignBlob(row, BlobReference(id: BlobID(rawValue: 6), byteCount: 1, checksum: 2)),
    ["row 44 of table 3", "blob 6"]
  ),
  (.invalidKey(row), ["row 44 of table 3", "from 1 to"]),
  (.tooLarge(byteCount: 70, limit: 60), ["70", "60", "blobs"]),
]

private let catalogueProblems: [CatalogueProblem] = [
  .tableExists(name: "Trip"), .columnExists(table: 3, name: "Trip"), .unknownTable(3),
  .unknownColumn(table: 3, column: 4), .retiredColumn(table: 3, column: 4),
  .repeatedColumn(table: 3, column: 4), .emptyName, .nameTooLong(byteCount: 5), .tooManyTables,
  .tooManyColumns(table: 3), .tooManyLayouts(table: 3), .valueTooLarge(byteCount: 9, limit: 8),
]

private let problems: [(problem: Corruption.Problem, named: [String])] = [
  (
    .invalidField(of: .packFooter, name: "rowCount", expected: 3, found: 4), ["rowCount", "3", "4"]
  ),
  (.truncated(.blob, needed: 30, available: 20), ["blob", "30 bytes", "20 bytes"]),
  (
    .lostDurableBytes(logPosition: 10, durableUpTo: 20, witness: .laterFrame),
    ["10 bytes", "20 bytes", "later frame"]
  ),
  (.missing(.packTrailer), ["pack trailer", "missing"]),
  (.inconsistent(.record, table: 3, key: 44), ["record", "row 44 of table 3"]),
]

@Suite struct `What an error of the store says` {
  @Test(arguments: errors.indices)
  func `names the place, what was expected, what was found and what to try`(index: Int) {
    let (error, named) = errors[index]
    let text = "\(error)"
    for part in named { #expect(text.contains(part), "\(part) in: \(text)") }
    // Words, and no Swift: neither labels of a case nor nested quotes.
    for swift in ["path:", "errno:", "LogFormat.", "Optional("] {
      #expect(!text.contains(swift), "\(swift) in: \(text)")
    }
    #expect(!text.contains("\n"))
    #expect(!error.explanation.what.isEmpty && !error.words.isEmpty)
  }

  @Test func `asks for no room of no bytes where a name found none`() {
    let error = StorageError.noSpace(path: path, needed: 0)
    #expect("\(error)".contains(path) && !"\(error)".contains("0 bytes"), "\(error)")
  }

  /// A copy's files get second names: the device of the copy is full, and not the one that the first name is on.
  @Test func `names the new name of a file where there is no room for that`() {
    let error = StorageError.noSpace(path: path, needed: 0).concerning("/backup/a.seg")
    #expect(error == .noSpace(path: "/backup/a.seg", needed: 0))
    let missing = StorageError.missingFile(path: path)
    #expect(missing.concerning("/backup/a.seg") == missing)
  }

  @Test(arguments: problems.indices)
  func `says what is damaged, and where`(index: Int) {
    let (problem, named) = problems[index]
    let text = "\(StorageError.corruption(Corruption(path: path, offset: 52, problem: problem)))"
    for part in named + [path, "byte 52", "salvage"] {
      #expect(text.contains(part), "\(part) in: \(text)")
    }
  }

  @Test(arguments: catalogueProblems)
  func `says why a change of the catalogue is refused`(problem: CatalogueProblem) {
    let text = "\(StorageError.invalidCatalogueChange(problem))"
    #expect(text.contains("conflicts with the catalogue: "))
    #expect(!text.contains("byteCount") && !text.contains("name:"))
  }

  @Test func `gives every explanation on one line, part by part`() {
    let explanation = ErrorExplanation(
      "it broke",
      place: "here",
      expected: "one",
      found: "two",
      advice: "mend it"
    )
    #expect("\(explanation)" == "it broke (here): expected one, found two; mend it")
    #expect("\(ErrorExplanation("it broke"))" == "it broke")
    #expect("\(ErrorExplanation("it broke", found: "two"))" == "it broke: found two")
  }
}
