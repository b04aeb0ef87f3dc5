public import Foundation

// An identifier as text: the same each time, and the same identifier when it is read back.
//
//     x-swiftdata://STORE/ENTITY/p12     the row 12
//     x-swiftdata://STORE/ENTITY/kTEXT   a key of a store's own kind
//     x-swiftdata:///ENTITY/t12          a temporary identifier, which means something in this process only
//
// Everything but letters, digits, "-", "_" and "~" is percent-encoded in the three parts.
extension PersistentIdentifier {
  private static let scheme = "x-swiftdata"

  /// The identifier as a URL, as Core Data's object identifiers have one.
  ///
  /// Equal identifiers have equal URLs, in every process. For one that is part of an address of a web
  /// service, ``urlComponent`` is shorter.
  // Apple's type has none: an app may have written its own.
  @_disfavoredOverload
  public func uriRepresentation() -> URL {
    let (store, entity) = (Self.encode(storeIdentifier ?? ""), Self.encode(entityName))
    let text = "\(Self.scheme)://\(store)/\(entity)/\(keyPart)"
    guard let url = URL(string: text) else {
      preconditionFailure("\(text) is no URL, though all of it is encoded")
    }
    return url
  }

  /// Reads an identifier back from its URL.
  ///
  /// - Parameter uri: What ``uriRepresentation()`` returned; `nil` for any other URL.
  public init?(uri: URL) {
    let prefix = Self.scheme + "://"
    guard uri.absoluteString.hasPrefix(prefix) else { return nil }
    let parts = uri.absoluteString.dropFirst(prefix.count)
      .split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    self.init(store: parts[0], entity: parts[1], key: parts[2])
  }

  /// The identifier as one part of a URL's path: `ENTITY.p12.STORE`.
  ///
  ///     /notes/Note.p12.2E7C…
  public var urlComponent: String {
    "\(Self.encode(entityName)).\(keyPart).\(Self.encode(storeIdentifier ?? ""))"
  }

  /// Reads an identifier back from one part of a URL's path.
  ///
  /// - Parameter urlComponent: What ``urlComponent`` was; `nil` for any other text.
  public init?(urlComponent: some StringProtocol) {
    let parts = urlComponent.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    self.init(store: parts[2], entity: parts[0], key: parts[1])
  }

  private var keyPart: String {
    guard let text = id.text else { return isTemporary ? "t\(id.key)" : "p\(id.key)" }
    return "k" + Self.encode(text)
  }

  private init?(store: some StringProtocol, entity: some StringProtocol, key: some StringProtocol) {
    guard let store = Self.decode(store), let entity = Self.decode(entity), !entity.isEmpty else {
      return nil
    }
    func origin() -> IdentifierOrigin {
      .read(store: store.isEmpty ? nil : store, entity: entity)
    }
    let rest = key.dropFirst()
    switch (key.first, store.isEmpty) {
    case ("p", false), ("t", true):
      guard let number = UInt64(rest), String(number) == rest else { return nil }
      self.init(origin: origin(), key: number)
    case ("k", false):
      // Digits have one form only: the one of a row.
      guard let text = Self.decode(rest), UInt64(text).map({ String($0) == text }) != true else {
        return nil
      }
      self.init(origin: origin(), primaryKeyText: text)
    default: return nil
    }
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~"
  )

  private static func encode(_ part: String) -> String {
    // Every text has a form in UTF-8.
    part.addingPercentEncoding(withAllowedCharacters: unreserved) ?? part
  }

  /// - Returns: `nil` for what no part was encoded as: each has one form.
  private static func decode(_ part: some StringProtocol) -> String? {
    guard let text = part.removingPercentEncoding, encode(text) == part else { return nil }
    return text
  }
}
