public import Foundation
public import ModelRuntime

/// Opens a ``JSONStore``: one file that holds every model.
public struct JSONStoreConfiguration: UniquenessConfiguring, Sendable {
  /// The store that this configuration opens.
  public typealias Store = JSONStore

  public let name: String
  public var schema: Schema?
  /// The file of the store; it is made by the first save.
  public let url: URL
  /// The action of a save for a new model whose unique values another model has.
  public var uniquenessPolicy: UniquenessPolicy

  /// Describes a store in a file.
  ///
  /// - Parameters:
  ///   - name: A name by which the container tells its stores apart.
  ///   - schema: The models the store keeps; by default the container's.
  ///   - url: The file of the store.
  ///   - uniquenessPolicy: The action of a save for a new model whose unique values another model has.
  public init(
    name: String,
    schema: Schema? = nil,
    url: URL,
    uniquenessPolicy: UniquenessPolicy = .upsert
  ) {
    self.uniquenessPolicy = uniquenessPolicy
    self.name = name
    self.schema = schema
    self.url = url
  }

  public static func == (lhs: JSONStoreConfiguration, rhs: JSONStoreConfiguration) -> Bool {
    lhs.name == rhs.name && lhs.url == rhs.url
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(url)
  }
}
