extension Schema {
  /// The kind of an index, as it is named in ``Schema/Entity/indices`` and in files.
  enum IndexKind: String, Codable { case binary, rtree }
}

extension Schema.Entity {
  /// The kind and the properties of an index; of a list that begins with no kind, as one made by hand may, all are properties.
  static func parts(ofIndex list: [String]) -> (kind: Schema.IndexKind, properties: [String]) {
    guard list.count > 1, let kind = list.first.flatMap(Schema.IndexKind.init) else {
      return (.binary, list)
    }
    return (kind, Array(list.dropFirst()))
  }

  /// The lists of properties that the entity's indices are of, whatever their kinds; each is there once.
  package var indexedProperties: [[String]] {
    var known: Set<[String]> = []
    return indices.map { Self.parts(ofIndex: $0).properties }.filter { known.insert($0).inserted }
  }
}
