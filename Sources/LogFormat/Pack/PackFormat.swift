/// An immutable file of rows, sorted by table and key, in compressed columns.
///
///     part          size            meaning
///     header        4,096           ``FileHeader`` of the kind pack; its number is the ``PackID``
///     blocks        footer          each a ``PackBlockHeader`` and the chunks it names: one of the keys,
///                                   one for each column
///     dictionaries  footer          the values that blocks name by number, column by column
///     footer        trailer         ``PackFooter``: which blocks there are, and the bounds of their
///                                   columns
///     trailer       64              ``PackTrailer``, the end of the file
///
/// All rows of a block are of one table and one layout. Blocks of one table and layout have ascending,
/// disjoint ranges of keys; those of different layouts are between each other as rows come. A key has
/// one row at most.
///
/// A block is small enough to be read for one row, and its columns stand apart so that a scan reads those
/// it asks about. To read one: open by trailer, footer and header; find the block by key in the footer, or
/// skip it by its bounds; check the block's header; take the chunk's bytes, check them, undo LZ4, check
/// again; undo the `ColumnEncoding`. Every checksum is CRC-32C; those "from the `FrameSeed`" begin with
/// the store, the pack's number, its salt and the offset, so a block that was misplaced does not pass.
///
/// The layout inside a block is PAX (Ailamaki et al., "Weaving Relations for Cache Performance", 2001);
/// bounds for each block are "small materialized aggregates" (Moerkotte, 1998), often called zone maps.
public enum PackFormat {
  /// The most rows a block may have: an address has 16 bits for them.
  public static let rowLimit = 1 << 16
  /// The most blocks a pack may have: an address has 20 bits for them.
  public static let blockLimit = 1 << 20 - 1
  /// The most bytes the rows of a block may have together, unless it holds one row alone.
  ///
  /// A reader takes no block that says otherwise: compressed bytes could claim any size.
  public static let blockByteLimit = 16 << 20
  /// The most bytes a footer may have, or so many times its stored ones if that is more.
  ///
  /// Where LZ4 would gain more, the footer is stored as it is.
  static let footerByteLimit = 16 << 20
  static let footerExpansion = 16

  static func footerLimit(storedByteCount: Int) -> Int {
    max(footerByteLimit, storedByteCount * footerExpansion)
  }
}

/// How a pack is written.
public struct PackOptions: Sendable, Hashable {
  /// How many bytes of rows a block holds, unless one row alone is longer.
  ///
  /// More compress better; fewer make the read of one row faster. At most ``PackFormat/blockByteLimit``.
  public var blockByteCount = 32 << 10
  /// How many rows a block holds at most.
  public var blockRowCount = 4096

  /// Makes the default options.
  public init() {}
}
