#if canImport(Darwin)
public import Foundation
#endif

extension Schema.Attribute.Option {
  /// The value may be encrypted in the cloud.
  @available(*, deprecated, renamed: "allowsCloudEncryption")
  public static var encrypt: Self { allowsCloudEncryption }

  /// The value is stored whole.
  @available(*, deprecated, renamed: "codable")
  public static var transform: Self { codable }

  /// The value is stored whole.
  @available(*, deprecated, renamed: "codable")
  public static var transformable: Self { codable }

  /// The value is stored as the output of a transformer.
  @available(*, deprecated, renamed: "transformable(by:)")
  public static func transform(by transformerType: ValueTransformer.Type) -> Self {
    transformable(by: transformerType)
  }

  /// The value is stored as the output of a registered transformer.
  @available(*, deprecated, renamed: "transformable(by:)")
  public static func transform(by transformerName: String) -> Self {
    transformable(by: transformerName)
  }
}
