/// An immutable file of rows, sorted by table and key, in compressed columns.
///
///     part          size            meaning
///     header        4,096           ``FileHeader`` of the kind pack; its number is the ``PackID``
///     blocks        footer          each a ``PackBlockHeader`` and the chunks it names: one of the keys,
///                                   one for each column
///     dictionaries  footer          the values that blocks name by number, column by column
///     footer        trailer         ``PackFooter``: the list of blocks, and the bounds of their
///                                   columns
///     trailer       64              ``PackTrailer``, the end of the file
///
/// All rows of a block belong to one table and one layout. Blocks of one table and layout have ascending, disjoint ranges of
/// keys; blocks of different layouts are interleaved in the order of the rows. A key has at most one row.
///
/// A block is small enough to be read for one row, and its columns are separate so that a scan reads only the columns it needs.
/// To read one: open by trailer, footer and header; find the block by key in the footer, or skip it by its bounds; check the
/// block's header; take the chunk's bytes, check them, decompress LZ4, check again; decode the `ColumnEncoding`. Every checksum
/// is CRC-32C; those "from the `FrameSeed`" begin with the store, the pack's number, its salt and the offset, so a misplaced
/// block does not pass.
///
/// The layout inside a block is PAX (Ailamaki et al., "Weaving Relations for Cache Performance", 2001);
/// bounds for each block are "small materialized aggregates" (Moerkotte, 1998), often called zone maps.
public enum PackFormat {
  /// Limit of the rows in a block: an address has 16 bits for them.
  public static let rowLimit = 1 << 16
  /// Limit of the blocks in a pack: an address has 20 bits for them.
  public static let blockLimit = 1 << 20 - 1
  /// Limit of the total size of a block's rows, in bytes, unless it contains only one row.
  ///
  /// A reader rejects a block that claims more: compressed bytes could claim any size.
  public static let blockByteLimit = 16 << 20
  /// Limit of a footer, in bytes; it is ``footerExpansion`` times the stored size if that is more.
  ///
  /// If LZ4 would compress more than that, the footer is stored uncompressed.
  static let footerByteLimit = 16 << 20
  static let footerExpansion = 16

  static func footerLimit(storedByteCount: Int) -> Int {
    max(footerByteLimit, storedByteCount * footerExpansion)
  }
}

/// The options with which a pack is written.
public struct PackOptions: Sendable, Hashable {
  /// The size of the rows in a block, in bytes, unless a single row is longer.
  ///
  /// Larger blocks compress better; smaller ones make the read of one row faster. At most ``PackFormat/blockByteLimit``.
  public var blockByteCount = 32 << 10
  /// The maximum number of rows in a block.
  public var blockRowCount = 4096

  /// Creates the default options.
  public init() {}
}
