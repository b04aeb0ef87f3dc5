public import Foundation

/// Where a container keeps its models, in the words of Apple's framework; the store behind it is LogStore.
public struct ModelConfiguration: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
  /// A CloudKit database; accepted, and without effect off Apple's platforms.
  public struct CloudKitDatabase: Hashable, Sendable {
    let name: String?
    public static let automatic = CloudKitDatabase(name: nil)
    public static let none = CloudKitDatabase(name: "")
    public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
      CloudKitDatabase(name: privateDBName)
    }
  }

  /// An app group; accepted, and without effect off Apple's platforms.
  public struct GroupContainer: Hashable, Sendable {
    let name: String?
    public static let automatic = GroupContainer(name: nil)
    public static let none = GroupContainer(name: "")
    public static func identifier(_ groupName: String) -> GroupContainer {
      GroupContainer(name: groupName)
    }
  }

  public let url: URL
  public let name: String
  public var schema: Schema?
  /// Whether the container may save; `false` opens the store read-only.
  public let allowsSave: Bool
  /// Whether the models live in memory only, as long as the container.
  public let isStoredInMemoryOnly: Bool
  public let groupContainer: GroupContainer
  public let cloudKitDatabase: CloudKitDatabase
  /// What a save does with a new model whose unique values another model has; by default, an upsert.
  public var uniquenessPolicy = UniquenessPolicy.upsert

  public var groupAppContainerIdentifier: String? {
    groupContainer.name.flatMap { $0.isEmpty ? nil : $0 }
  }
  public var cloudKitContainerIdentifier: String? {
    cloudKitDatabase.name.flatMap { $0.isEmpty ? nil : $0 }
  }

  public var id: URL { url }

  public init(isStoredInMemoryOnly: Bool = false) {
    self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(
      nil,
      schema: forTypes.isEmpty ? nil : Schema(forTypes),
      isStoredInMemoryOnly: isStoredInMemoryOnly
    )
  }

  /// Keeps models under the platform's folder for application data, in `<name>.store`.
  public init(
    _ name: String? = nil,
    schema: Schema? = nil,
    isStoredInMemoryOnly: Bool = false,
    allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.allowsSave = allowsSave
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    url =
      isStoredInMemoryOnly
      ? URL(fileURLWithPath: name.map { "/dev/null/\($0)" } ?? "/dev/null")
      : ModelConfiguration.defaultFolder.appending(path: "\(name ?? "default").store")
  }

  /// Keeps models at a place of your choice.
  public init(
    _ name: String? = nil,
    schema: Schema? = nil,
    url: URL,
    allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
    self.allowsSave = allowsSave
    isStoredInMemoryOnly = false
    groupContainer = .automatic
    self.cloudKitDatabase = cloudKitDatabase
  }

  /// The platform's folder for application data: on Linux `$XDG_DATA_HOME`, or `~/.local/share`.
  private static var defaultFolder: URL {
    FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? URL(fileURLWithPath: NSHomeDirectory()).appending(path: ".local/share")
  }

  public static func == (lhs: ModelConfiguration, rhs: ModelConfiguration) -> Bool {
    lhs.url == rhs.url && lhs.name == rhs.name
      && lhs.isStoredInMemoryOnly == rhs.isStoredInMemoryOnly && lhs.allowsSave == rhs.allowsSave
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(name)
  }

  public var debugDescription: String {
    "ModelConfiguration(\(name), \(isStoredInMemoryOnly ? "in memory" : url.path)"
      + "\(allowsSave ? "" : ", read-only"))"
  }
}
