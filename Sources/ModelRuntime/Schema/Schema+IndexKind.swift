extension Schema {
  /// The kind of an index, as it is named in ``Schema/Entity/indices`` and in files.
  enum IndexKind: String, Codable { case binary, rtree }
}

extension Schema.Entity {
  /// The lists of properties that the entity's indices are of, whatever their kinds; each is there once.
  package var indexedProperties: [[String]] {
    var known: Set<[String]> = []
    return indices.map { Array($0.dropFirst()) }.filter { known.insert($0).inserted }
  }
}
