extension RowImport.Format {
  /// The format of a file: as its name ends, or as it begins, since the name of a pipe says nothing.
  ///
  /// An object of ndjson begins with a brace, and a header of csv does not.
  init(of bytes: [UInt8], in file: String) {
    let name = file.lowercased()
    if name.hasSuffix(".csv") {
      self = .csv
    } else if [".ndjson", ".jsonl", ".json"].contains(where: name.hasSuffix) {
      self = .ndjson
    } else {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let first = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0)
        .first { ![9, 10, 13, 32].contains($0) }
      self = first == nil || first == UInt8(ascii: "{") ? .ndjson : .csv
    }
  }
}
