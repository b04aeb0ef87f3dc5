package import RowFormat

/// A list of properties whose combined values no two models of a class, or of its subclasses, may share.
package struct UniquenessConstraint: Hashable, Sendable {
  /// The class that declares it.
  package let owner: ModelDescriptor
  /// The columns, in the rows of the class and of every subclass: inherited columns come first.
  package let columns: [Int]

  package var properties: [String] { columns.map { owner.properties[$0].name } }

  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.owner === rhs.owner && lhs.columns == rhs.columns
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(owner))
    hasher.combine(columns)
  }

  /// Whether the constraint applies to models of a class.
  package func covers(_ descriptor: ModelDescriptor) -> Bool { descriptor.isKind(of: owner) }

  /// Whether a change of some columns can affect the constraint.
  package func isTouched(by changed: ColumnSet) -> Bool {
    columns.contains { changed.contains($0) }
  }

  /// The constraints of a schema's entities: those of properties, then those of `#Unique`.
  package static func all(in schema: Schema) -> [UniquenessConstraint] {
    schema.entities.flatMap { entity -> [UniquenessConstraint] in
      guard let type = entity.modelType else { return [] }
      let owner = ModelDescriptor.of(type)
      return entity.uniquenessConstraints.compactMap { names in
        let columns = names.compactMap { owner.property(named: $0)?.ordinal }
        guard !columns.isEmpty, columns.count == names.count else { return nil }
        return UniquenessConstraint(owner: owner, columns: columns)
      }
    }
  }
}

/// The values of some columns of a row, as bytes that are equal when the values are.
///
/// A key with a null in it is no key: as in SQL, nulls equal nothing, and neither does NaN. The
/// two zeros of doubles and dates are one. Text is compared by its bytes, so
/// that the result does not depend on the version of Unicode the store was built with.
package enum ColumnKey {
  /// Appends the key of a row.
  ///
  /// - Returns: `false`, with nothing appended, if one of the columns is null or NaN.
  @inlinable
  package static func append(
    _ columns: [Int],
    of row: RawSpan,
    _ layout: RowLayout,
    to key: inout [UInt8]
  ) -> Bool {
    let start = key.count
    for column in columns {
      if layout.isNull(column, in: row) {
        key.removeSubrange(start...)
        return false
      }
      let type = layout.types[column]
      let range: Range<Int>
      if type.isVariable {
        range = layout.range(column, in: row)
        // The length keeps ("a", "bc") apart from ("ab", "c").
        if columns.count > 1 {
          unsafe withUnsafeBytes(of: UInt32(truncatingIfNeeded: range.count).littleEndian) {
            unsafe key.append(contentsOf: $0)
          }
        }
      } else if type == .double || type == .date {
        // One zero.
        let value = layout.double(column, in: row) + 0
        if value.isNaN {
          key.removeSubrange(start...)
          return false
        }
        unsafe withUnsafeBytes(of: value.bitPattern.littleEndian) {
          unsafe key.append(contentsOf: $0)
        }
        continue
      } else {
        let offset = layout.offset(of: column)
        range = offset..<(offset + type.fixedWidth)
      }
      unsafe row.withUnsafeBytes { unsafe key.append(contentsOf: $0[range]) }
    }
    return true
  }

  /// A hash of a key, the same in every process and on every machine: files of unique indexes contain it.
  @inlinable
  package static func hash(_ key: ArraySlice<UInt8>) -> UInt32 {
    unsafe key.withUnsafeBytes { bytes in
      var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(bytes.count)
      var offset = 0
      while offset + 8 <= bytes.count {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        hash = mix(hash ^ UInt64(littleEndian: word))
        offset += 8
      }
      var rest: UInt64 = 0
      while offset < bytes.count {
        rest = unsafe rest << 8 | UInt64(bytes[offset])
        offset += 1
      }
      return UInt32(truncatingIfNeeded: mix(hash ^ rest) >> 32)
    }
  }

  /// Both halves of a product, folded: every bit of the argument reaches every bit of the result.
  @inlinable
  static func mix(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low
  }
}
