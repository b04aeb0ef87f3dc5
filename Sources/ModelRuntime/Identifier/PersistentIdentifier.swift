import Locking
import Foundation
import RowFormat
import Synchronization

/// The name of a model: its entity, its store, and a key that is never used again.
///
/// An identifier is temporary until the model's first save, permanent afterwards. Only permanent
/// identifiers are valid outside the process, or in another context.
public struct PersistentIdentifier: Hashable, Identifiable, Comparable, Sendable {
  /// The identity of an identifier, for `Identifiable`.
  public struct ID: Hashable, Sendable {
    let origin: IdentifierOrigin
    let key: UInt64
    let text: String?
  }

  public let id: ID

  /// The name of the model's entity.
  public var entityName: String { id.origin.entityName }

  /// The identifier of the store that holds the model, or `nil` while the identifier is temporary.
  public var storeIdentifier: String? { id.origin.storeIdentifier }

  /// Whether the model has never been saved.
  public var isTemporary: Bool { id.origin.storeIdentifier == nil }

  init(origin: IdentifierOrigin, key: UInt64, text: String? = nil) {
    id = ID(origin: origin, key: key, text: text)
  }

  /// Makes the permanent identifier of a row in a custom store.
  ///
  /// - Parameters:
  ///   - storeIdentifier: The `identifier` of the store.
  ///   - entityName: The name of the model's entity.
  ///   - primaryKey: The row's key in the store; the identifier keeps its JSON form.
  /// - Returns: The identifier.
  /// - Throws: An error of encoding the key.
  public static func identifier<T>(
    for storeIdentifier: String,
    entityName: String,
    primaryKey: T
  ) throws -> PersistentIdentifier
  where T: Comparable, T: CustomStringConvertible, T: Decodable, T: Encodable, T: Hashable {
    let origin = IdentifierOrigin.named(store: storeIdentifier, entity: entityName)
    if let string = primaryKey as? String {
      return PersistentIdentifier(origin: origin, primaryKeyText: string)
    }
    // Equal keys must make equal identifiers, so keys of several parts are encoded in one order.
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let json = try encoder.encode(primaryKey)
    // A key that is encoded as a string, such as a UUID, is kept without the quotes.
    let text =
      (try? JSONDecoder().decode(String.self, from: json)) ?? String(decoding: json, as: UTF8.self)
    return PersistentIdentifier(origin: origin, primaryKeyText: text)
  }

  /// Makes a permanent identifier from its key's text.
  ///
  /// Digits have one form, whatever their source: equal keys make equal identifiers.
  init(origin: IdentifierOrigin, primaryKeyText text: String) {
    if let key = UInt64(text), String(key) == text {
      self.init(origin: origin, key: key)
    } else {
      self.init(origin: origin, key: 0, text: text)
    }
  }

  /// The key of a row in a store that numbers its rows; `nil` for a store's own kind of key.
  package var rowKey: UInt64? { isTemporary || id.text != nil ? nil : id.key }

  /// The key as text: digits, or the store's own key; a temporary identifier's begins with "t".
  var primaryKeyText: String {
    if let text = id.text { return text }
    return isTemporary ? "t\(id.key)" : "\(id.key)"
  }

  /// Orders by store, entity and key: rows of a table in the order they were created.
  public static func < (lhs: PersistentIdentifier, rhs: PersistentIdentifier) -> Bool {
    if lhs.id.origin !== rhs.id.origin {
      let left = (lhs.storeIdentifier ?? "", lhs.entityName)
      let right = (rhs.storeIdentifier ?? "", rhs.entityName)
      if left != right { return left < right }
    }
    if let left = lhs.id.text, let right = rhs.id.text { return left < right }
    if lhs.id.text != nil || rhs.id.text != nil { return lhs.id.text == nil }
    return lhs.id.key < rhs.id.key
  }
}

extension PersistentIdentifier: CustomStringConvertible {
  public var description: String {
    "\(entityName)/\(primaryKeyText)" + (storeIdentifier.map { " in \($0)" } ?? " (temporary)")
  }
}

/// The store and entity that many identifiers share, made once for each pair.
///
/// Interned, so that comparing and hashing an identifier touches one pointer and one integer.
final class IdentifierOrigin: Sendable, Hashable {
  let storeIdentifier: String?
  let entityName: String
  private let lasts = Atomic(false)

  /// Whether the origin is never freed.
  var isLasting: Bool { lasts.load(ordering: .relaxed) }

  /// Only a table makes origins, one for each pair.
  init(_ pair: OriginTable.Pair) {
    storeIdentifier = pair.store
    entityName = pair.entity
  }

  /// The pairs, distributed by their hashes, so that threads with different entities seldom wait for each other.
  private final class Shard: Sendable {
    let table = Lock(OriginTable(), .identifierOrigins)
  }

  private static let shards = (0..<16).map { _ in Shard() }

  /// The origin of the models of a store or a schema; it is never freed.
  static func named(store: String?, entity: String) -> IdentifierOrigin {
    withTable(OriginTable.Pair(store: store, entity: entity)) { $0.lasting($1) }
  }

  /// The origin of an identifier from outside, which may name anything: it is freed with the last identifier that
  /// has it, unless it is that of a store or a schema.
  static func read(store: String?, entity: String) -> IdentifierOrigin {
    withTable(OriginTable.Pair(store: store, entity: entity)) { $0.origin($1) }
  }

  private static func withTable(
    _ pair: OriginTable.Pair,
    _ body: (inout OriginTable, OriginTable.Pair) -> IdentifierOrigin
  ) -> IdentifierOrigin {
    shards[pair.hashValue & (shards.count - 1)].table.withLock { body(&$0, pair) }
  }

  /// Records that a table keeps the origin for good.
  func last() { lasts.store(true, ordering: .relaxed) }

  /// Number of remembered pairs.
  static var knownCount: Int { shards.reduce(0) { $0 + $1.table.withLock { $0.count } } }

  static func == (lhs: IdentifierOrigin, rhs: IdentifierOrigin) -> Bool { lhs === rhs }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
