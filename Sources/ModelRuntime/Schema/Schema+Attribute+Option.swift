#if canImport(Darwin)
public import Foundation
#endif

extension Schema.Attribute {
  /// An option of `@Attribute`.
  public struct Option: Codable, Hashable, Sendable {
    private enum Kind: String, Codable {
      case unique, externalStorage, allowsCloudEncryption, preserveValueOnDeletion, ephemeral
      case spotlight, codable, transformable
    }

    private let kind: Kind
    /// The name of the transformer of a `.transformable` attribute.
    package let transformerName: String?

    private init(_ kind: Kind, transformerName: String? = nil) {
      self.kind = kind
      self.transformerName = transformerName
    }

    /// No two models share a value; saving a second one updates the first.
    public static let unique = Option(.unique)
    /// The value may be stored beside the store, in a file of its own.
    public static let externalStorage = Option(.externalStorage)
    /// The value may be encrypted in the cloud; without effect without a cloud.
    public static let allowsCloudEncryption = Option(.allowsCloudEncryption)
    /// The value stays in the history of the store after its model is deleted.
    public static let preserveValueOnDeletion = Option(.preserveValueOnDeletion)
    /// The value is tracked but not stored: a fetched model has the default value.
    public static let ephemeral = Option(.ephemeral)
    /// The value is indexed by Spotlight; without effect without Spotlight.
    public static let spotlight = Option(.spotlight)
    /// The value is stored whole: the store does not know its fields.
    public static let codable = Option(.codable)

    /// The value is stored as the output of a transformer.
    public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
      Option(.transformable, transformerName: TransformerNames.name(of: transformerType))
    }

    /// The value is stored as the output of a registered transformer.
    public static func transformable(by transformerName: String) -> Option {
      Option(.transformable, transformerName: transformerName)
    }

    var isTransformable: Bool { kind == .transformable }
  }
}

extension Schema.Attribute.Option: CustomDebugStringConvertible {
  public var debugDescription: String {
    ".\(kind.rawValue)" + (transformerName.map { "(by: \($0))" } ?? "")
  }
}
