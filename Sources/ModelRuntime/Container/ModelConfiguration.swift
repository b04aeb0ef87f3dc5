public import Foundation

/// The location of a container's models, in the words of Apple's framework; the store behind it is LogStore.
public struct ModelConfiguration: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
  /// A CloudKit database; accepted, and without effect off Apple's platforms.
  public struct CloudKitDatabase: Hashable, Sendable {
    let name: String?
    /// The database that the app's entitlements name.
    public static let automatic = CloudKitDatabase(name: nil)
    /// No database.
    public static let none = CloudKitDatabase(name: "")
    /// The private database of a CloudKit container.
    public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
      CloudKitDatabase(name: privateDBName)
    }
  }

  /// An app group; accepted, and without effect off Apple's platforms.
  public struct GroupContainer: Hashable, Sendable {
    let name: String?
    /// The group that the app's entitlements name.
    public static let automatic = GroupContainer(name: nil)
    /// No group.
    public static let none = GroupContainer(name: "")
    /// The group with an identifier.
    public static func identifier(_ groupName: String) -> GroupContainer {
      GroupContainer(name: groupName)
    }
  }

  /// The folder that holds the store's files.
  public let url: URL
  /// The name that distinguishes the container's stores; "default" if none is given.
  public let name: String
  /// The models that the store keeps; the container's, if `nil`.
  public var schema: Schema?
  /// Whether the container may save; `false` opens the store read-only.
  public let allowsSave: Bool
  /// Whether the models live in memory only, as long as the container.
  public let isStoredInMemoryOnly: Bool
  /// The app group; without effect off Apple's platforms.
  public let groupContainer: GroupContainer
  /// The CloudKit database; without effect off Apple's platforms.
  public let cloudKitDatabase: CloudKitDatabase
  /// The policy of a save for a new model whose unique values another model has; by default, an upsert.
  public var uniquenessPolicy = UniquenessPolicy.upsert
  /// The policy of a save for an attribute that another save has changed since it was read; by default, the last one stays.
  public var mergePolicy = MergePolicy.lastWriter
  /// The policy for opening a store that a newer version of the models has written; by default, opening throws.
  public var newerStores = NewerStorePolicy.refuse

  /// The identifier of the app group; `nil` if none is named.
  public var groupAppContainerIdentifier: String? {
    groupContainer.name.flatMap { $0.isEmpty ? nil : $0 }
  }
  /// The name of the private CloudKit database; `nil` if none is named.
  public var cloudKitContainerIdentifier: String? {
    cloudKitDatabase.name.flatMap { $0.isEmpty ? nil : $0 }
  }

  public var id: URL { url }

  /// The location in versions before 0.1 of a configuration without one; `nil` if a location was given.
  ///
  /// It is one file for all programs of a user.
  package private(set) var formerURL: URL?

  /// Keeps a container's models at the default location, or in memory.
  public init(isStoredInMemoryOnly: Bool = false) {
    self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// Keeps some of a container's models at the default location, or in memory.
  ///
  /// - Parameters:
  ///   - forTypes: The models that the store keeps; the container's, if empty.
  ///   - isStoredInMemoryOnly: Whether the models are gone with the container.
  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(
      nil,
      schema: forTypes.isEmpty ? nil : Schema(forTypes),
      isStoredInMemoryOnly: isStoredInMemoryOnly
    )
  }

  /// Keeps models under the platform's folder for application data, in `<name>.store`.
  ///
  /// On Linux that is `$XDG_DATA_HOME` or `~/.local/share`, and in it a folder for each program, named after the
  /// bundle's identifier or else the executable: `~/.local/share/notes/default.store`. On Apple's platforms, whose
  /// sandbox separates apps, it is the folder itself.
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
      : ModelConfiguration.programFolder.appending(path: "\(name ?? "default").store")
    if !isStoredInMemoryOnly {
      let former = ModelConfiguration.dataFolder.appending(path: "\(name ?? "default").store")
      formerURL = former == url ? nil : former
    }
  }

  /// Keeps models at a given location.
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
  private static var dataFolder: URL {
    FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? URL(fileURLWithPath: NSHomeDirectory()).appending(path: ".local/share")
  }

  /// The program's own folder in it.
  private static var programFolder: URL {
    #if canImport(Darwin)
    dataFolder
    #else
    dataFolder.appending(path: program)
    #endif
  }

  /// The name that distinguishes this program from others of the user.
  package static let program: String = {
    let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    return name.isEmpty || name.hasPrefix(".") || name.contains("/") ? "unnamed" : name
  }()

  /// Returns the same configuration at another location.
  package func moved(to url: URL) -> ModelConfiguration {
    var copy = ModelConfiguration(
      name,
      schema: schema,
      url: url,
      allowsSave: allowsSave,
      cloudKitDatabase: cloudKitDatabase
    )
    copy.uniquenessPolicy = uniquenessPolicy
    copy.mergePolicy = mergePolicy
    copy.newerStores = newerStores
    return copy
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
