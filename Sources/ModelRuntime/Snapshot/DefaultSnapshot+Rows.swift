package import Foundation
package import RowFormat

// Conversion between snapshots, whose references are numbers of a list, and rows, whose references are a store's.

extension DefaultSnapshot {
  /// The place in which a store keeps lists whose members name their owner.
  package enum ListStorage {
    /// With the owner, like any other list.
    case atOwner
    /// At the members, with the ranks that `rank` returns for their to-one columns; `nil` for a column without a rank.
    case atMembers(rank: (_ column: Int) throws -> Int64?)
  }

  /// Writes the row of the snapshot in the store's form.
  ///
  /// - Parameters:
  ///   - writer: Receives the row.
  ///   - lists: The place in which the store keeps lists.
  ///   - reference: Returns the store's row of a model; a reference to a model without one is left out.
  ///   - sideFile: Puts a large value into a side file; `nil` for a value that stays in the row.
  /// - Returns: The range of the row in the writer's bytes.
  /// - Throws: An error of the closures.
  package func write(
    into writer: inout RowWriter,
    lists: ListStorage,
    reference: (PersistentIdentifier) -> RowReference?,
    sideFile: (RawSpan) throws -> BlobReference? = { _ in nil }
  ) throws -> Range<Int> {
    let layout = descriptor.layout
    writer.begin(layout)
    try unsafe row.withUnsafeBytes { bytes in
      let row = unsafe bytes.bytes
      for property in descriptor.properties {
        let column = property.ordinal
        guard property.isRelationship else {
          if case .inline(let range) = layout.blob(column, in: row),
            let file = try sideFile(row.extracting(range))
          {
            writer.append(column, blob: file)
          } else {
            writer.copy(column, from: row, column: column, layout: layout)
          }
          continue
        }
        if layout.isNull(column, in: row) { continue }
        if property.isToMany {
          if case .atMembers = lists, property.isDerivable { continue }
          let targets = layout.references(column, in: row).compactMap {
            identifier(for: $0).flatMap(reference)
          }
          writer.append(column, references: targets)
        } else if let target = identifier(for: layout.reference(column, in: row))
          .flatMap(reference)
        {
          writer.set(column, reference: target)
          if case .atMembers(let rank) = lists, let rankColumn = descriptor.rankColumns[column],
            let rank = try rank(column)
          {
            writer.set(rankColumn, integer: rank)
          }
        }
      }
    }
    return writer.finish()
  }

  /// Returns the targets of a relationship, in the order of a list.
  package func destinations(_ property: ModelProperty) -> [PersistentIdentifier] {
    let (column, layout) = (property.ordinal, descriptor.layout)
    return unsafe row.withUnsafeBytes { bytes in
      let row = unsafe bytes.bytes
      if layout.isNull(column, in: row) { return [] }
      let references =
        property.isToMany
        ? layout.references(column, in: row) : [layout.reference(column, in: row)]
      return references.compactMap(identifier(for:))
    }
  }

  /// Makes the snapshot of a row of a store that keeps lists at their members.
  ///
  /// - Parameters:
  ///   - fetched: The row, in the layout of the class.
  ///   - own: The model's identifier.
  ///   - descriptor: The model's class.
  ///   - identifier: Returns the model of a row; a reference to a row without one is left out.
  ///   - members: Returns the members of a list, in order.
  ///   - value: Reads a value that is in a side file.
  /// - Throws: An error of the closures.
  package init(
    of fetched: FetchedRow,
    _ own: PersistentIdentifier,
    _ descriptor: ModelDescriptor,
    identifier: (RowReference) -> PersistentIdentifier?,
    members: (ModelProperty) throws -> [RowReference],
    value: (BlobReference, _ column: Int) throws -> Data?
  ) throws {
    let layout = descriptor.layout
    var references: [PersistentIdentifier] = []
    func number(_ reference: RowReference) -> RowReference? {
      guard let identifier = identifier(reference) else { return nil }
      references.append(identifier)
      return DefaultSnapshot.reference(number: references.count)
    }
    var writer = RowWriter()
    writer.begin(layout)
    try fetched.withBytes { row in
      for property in descriptor.properties {
        let column = property.ordinal
        if property.isDerivable {
          writer.append(column, references: try members(property).compactMap(number))
        } else if layout.isNull(column, in: row) {
          continue
        } else if property.isToMany {
          writer.append(column, references: layout.references(column, in: row).compactMap(number))
        } else if property.isRelationship {
          if let target = number(layout.reference(column, in: row)) {
            writer.set(column, reference: target)
          }
        } else if let blob = layout.blob(column, in: row)?.reference {
          // A snapshot is the same in every store: it holds the value itself.
          let value = try value(blob, column)
          unsafe value?.withUnsafeBytes { unsafe writer.append(column, inlineBlob: $0.bytes) }
        } else {
          writer.copy(column, from: row, column: column, layout: layout)
        }
      }
    }
    let range = writer.finish()
    unsafe self.init(
      persistentIdentifier: own,
      descriptor: descriptor,
      row: writer.bytes.extracting(range).withUnsafeBytes { unsafe Array($0) },
      references: references
    )
  }
}
