/// The decoder passed to a value's `init(from:)`: one item of a reader.
struct StructuredDecoder: Decoder {
  let reader: StructuredReader
  let offset: Int
  let place: StructuredPlace?

  var codingPath: [any CodingKey] { StructuredPlace.path(place) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let map = try reader.map(at: offset, in: place)
    return KeyedDecodingContainer(
      KeyedStructuredDecodingContainer(reader: reader, map: map, place: place)
    )
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let offsets = try reader.elements(at: offset, in: place)
    return UnkeyedStructuredDecodingContainer(reader: reader, offsets: offsets, place: place)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    SingleStructuredDecodingContainer(reader: reader, offset: offset, place: place)
  }
}

/// The path to an item: the keys and indices that lead to it, the innermost first.
///
/// A list rather than an array: it is made for every nested value, and read only after an
/// error.
indirect enum StructuredPlace {
  case field(any CodingKey, StructuredPlace?)
  case element(Int, StructuredPlace?)

  static func path(_ place: StructuredPlace?) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var rest = place
    while let place = rest {
      switch place {
      case .field(let key, let outer):
        keys.append(key)
        rest = outer
      case .element(let index, let outer):
        keys.append(StructuredKey(intValue: index))
        rest = outer
      }
    }
    return keys.reversed()
  }
}
