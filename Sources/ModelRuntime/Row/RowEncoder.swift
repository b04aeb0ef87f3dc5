import Foundation
public import RowFormat

/// Encodes the rows of models one after the other; the argument of every generated `_$encode(into:)`.
public struct _RowEncoder: ~Copyable {
  @usableFromInline var writer: RowWriter
  /// The row the model had before, whose unchanged columns are copied.
  @usableFromInline var previous: _RowView
  /// The model being encoded.
  var state: _ModelState?
  /// Names the rows that relationships refer to.
  var references: any ReferenceResolver
  /// Takes values that are too large for a row, if the store does.
  var blobs: (any RowChangeSink)?
  /// The layout of the row being written.
  private var layout = _RowEncoder.noColumns
  /// The error of the current row: an attribute whose `encode(to:)` threw.
  var failure: (any Error)?

  init(references: any ReferenceResolver) {
    // Room for most rows, yet cheap to allocate: a save of one model has a writer
    // of its own.
    writer = RowWriter(capacity: 1000)
    previous = unsafe _RowView(base: nil, byteCount: 0, layout: _RowEncoder.noColumns)
    self.references = references
  }

  private static let noColumns = RowLayout([])

  /// Starts a row without a previous one.
  mutating func begin(_ layout: RowLayout) {
    failure = nil
    previous = unsafe _RowView(base: nil, byteCount: 0, layout: layout)
    self.layout = layout
    writer.begin(layout)
  }

  /// Starts a row with initial values.
  ///
  /// - Parameters:
  ///   - layout: The row's layout.
  ///   - template: A row of the layout; see ``RowWriter/begin(_:as:)``.
  mutating func begin(_ layout: RowLayout, as template: RawSpan) {
    failure = nil
    previous = unsafe _RowView(base: nil, byteCount: 0, layout: layout)
    self.layout = layout
    writer.begin(layout, as: template)
  }

  /// Lends a row that was written.
  borrowing func withRow<R>(_ range: Range<Int>, _ body: (RawSpan) throws -> R) rethrows -> R {
    try body(writer.bytes.extracting(range))
  }

  /// Ends a single row, returns its bytes, and forgets it.
  ///
  /// - Throws: An error of encoding one of its attributes.
  mutating func finishBytes() throws -> [UInt8] {
    let range = writer.finish()
    defer { writer.removeAll() }
    if let failure { throw failure }
    return unsafe writer.bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
  }

  /// Copies a column from the previous row: its value is unchanged.
  @inlinable public mutating func keep(_ ordinal: Int) {
    guard let base = unsafe previous.base else { return }
    let row = unsafe UnsafeRawBufferPointer(start: base, count: previous.byteCount).bytes
    writer.copy(ordinal, from: row, column: ordinal, layout: previous.layout)
  }

  /// Writes a value of a composite type.
  public mutating func set<Value: Codable>(_ ordinal: Int, structured value: Value) {
    do {
      var buffer = ByteBuffer()
      guard try StructuredCoding.encode(value, into: &buffer) == .value else { return }
      set(ordinal, bytes: buffer.bytes)
    } catch {
      failure = failure ?? error
    }
  }

  /// Writes the bytes of a value; they go to a side file if the column may have one and the store
  /// accepts it.
  mutating func set(_ ordinal: Int, bytes: RawSpan) {
    guard layout.types[ordinal] == .blob else { return writer.append(ordinal, bytes: bytes) }
    do {
      if let blob = try blobs?.addBlob(bytes) {
        writer.append(ordinal, blob: blob)
      } else {
        writer.append(ordinal, inlineBlob: bytes)
      }
    } catch {
      failure = failure ?? error
    }
  }

  /// Copies a column that may name a side file from the previous row.
  ///
  /// Only the store that has the file understands the name: for any other the value is read. The row of a model that
  /// is inserted again names a file that was deleted with that row: a value that was not read before is lost.
  mutating func keepValue(_ ordinal: Int) {
    guard let blob = previous.blob(ordinal) else { return keep(ordinal) }
    if blobs != nil, !hasLostFile(ordinal) { return keep(ordinal) }
    do {
      guard let value = try state?.readBlob(blob, ordinal) else { return }
      unsafe value.withUnsafeBytes { unsafe writer.append(ordinal, inlineBlob: $0.bytes) }
    } catch {
      failure = failure ?? error
    }
  }

  /// Whether the value in a model's slot is written, rather than the row's.
  ///
  /// An unchanged value is not written again: it may be large, and a value read in place of a damaged one
  /// is not the original.
  func writesValue(_ ordinal: Int) -> Bool {
    guard let state, !previous.isAbsent else { return true }
    return state.changed.contains(ordinal) || hasLostFile(ordinal)
      || state.isUnwrittenChange(ordinal)
  }

  /// Whether the previous row was deleted, and names a side file that was deleted with it.
  private func hasLostFile(_ ordinal: Int) -> Bool {
    state?.flags.contains(.stored) == false && previous.blob(ordinal) != nil
  }

  /// Writes the references of a relationship.
  public mutating func setRelationship(_ ordinal: Int) {
    guard let state else { return }
    state.encodeRelationship(ordinal, into: &self)
  }
}

/// The store's answers needed to encode a relationship.
protocol ReferenceResolver: AnyObject {
  /// Whether lists are found from their other end, so that they need no column of their own.
  var derivesLists: Bool { get }

  /// The row of a model.
  ///
  /// - Throws: An error if the model can have no row in this store.
  func reference(to state: _ModelState) throws -> RowReference

  /// Whether a reference is the same in a row that was read and in the row being written.
  var keepsNames: Bool { get }

  /// Translates a reference of a row that was read for the row being written.
  func name(of reference: RowReference, in connection: StoreConnection?) -> RowReference?

  /// Returns a rank after every rank given out before: the place at the end of a list.
  func nextRank() -> Int64
}
