public import Foundation

// The text form of an identifier: always the same, and read back as the same identifier.
//
//     x-swiftdata://STORE/ENTITY/p12     the row 12
//     x-swiftdata://STORE/ENTITY/kTEXT   a key of a store's own kind
//     x-swiftdata:///ENTITY/t12          a temporary identifier, which is valid in this process only
//
// Everything but letters, digits, "-", "_" and "~" is percent-encoded in the three parts.
extension PersistentIdentifier {
  private static let scheme = "x-swiftdata"

  /// The identifier as a URL, like those of Core Data's object identifiers.
  ///
  /// Equal identifiers have equal URLs, in every process. For an identifier that is part of a web service's
  /// address, ``urlComponent`` is shorter.
  // Apple's type has none: an app may declare its own.
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
  /// - Parameter uri: A result of ``uriRepresentation()``; any other URL gives `nil`.
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
  /// - Parameter urlComponent: A value of ``urlComponent``; any other text gives `nil`.
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
      // Digits have one form only: that of a row.
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
    // Every text has a UTF-8 form.
    part.addingPercentEncoding(withAllowedCharacters: unreserved) ?? part
  }

  /// - Returns: `nil` for a text that no part is encoded as: each has one form.
  private static func decode(_ part: some StringProtocol) -> String? {
    guard let text = part.removingPercentEncoding, encode(text) == part else { return nil }
    return text
  }
}
