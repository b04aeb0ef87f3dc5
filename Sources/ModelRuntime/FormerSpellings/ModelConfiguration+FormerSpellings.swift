public import Foundation

extension ModelConfiguration {
  /// Keeps models at the default location, or in memory.
  ///
  /// - Parameters:
  ///   - name: The name of the store.
  ///   - schema: The models of the store; the container's, if `nil`.
  ///   - inMemory: Whether the models are gone with the container.
  ///   - readOnly: Whether saving is refused.
  ///   - sharedAppContainerIdentifier: The app group; without effect off Apple's platforms.
  ///   - cloudKitContainerIdentifier: The CloudKit database; without effect off Apple's platforms.
  @available(
    *,
    deprecated,
    message: "inMemory: is isStoredInMemoryOnly: today, and readOnly: true is allowsSave: false"
  )
  public init(
    _ name: String? = nil,
    schema: Schema? = nil,
    inMemory: Bool,
    readOnly: Bool = false,
    sharedAppContainerIdentifier: String? = nil,
    cloudKitContainerIdentifier: String? = nil
  ) {
    self.init(
      name,
      schema: schema,
      isStoredInMemoryOnly: inMemory,
      allowsSave: !readOnly,
      groupContainer: sharedAppContainerIdentifier.map { .identifier($0) } ?? .automatic,
      cloudKitDatabase: cloudKitContainerIdentifier.map { .private($0) } ?? .automatic
    )
  }

  /// Keeps models at a given location.
  ///
  /// - Parameters:
  ///   - name: The name of the store.
  ///   - schema: The models of the store; the container's, if `nil`.
  ///   - url: The folder of the store.
  ///   - readOnly: Whether saving is refused.
  ///   - cloudKitContainerIdentifier: The CloudKit database; without effect off Apple's platforms.
  @available(
    *,
    deprecated,
    message: "cloudKitContainerIdentifier: is cloudKitDatabase: .private(_) today"
  )
  public init(
    _ name: String? = nil,
    schema: Schema? = nil,
    url: URL,
    readOnly: Bool = false,
    cloudKitContainerIdentifier: String
  ) {
    self.init(
      name,
      schema: schema,
      url: url,
      allowsSave: !readOnly,
      cloudKitDatabase: .private(cloudKitContainerIdentifier)
    )
  }
}
