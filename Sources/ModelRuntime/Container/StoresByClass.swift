/// The stores of a container that keep the models of each class.
struct StoresByClass: Sendable {
  private var homes: [ObjectIdentifier: StoreConnection] = [:]
  /// The stores of the classes that more than one keeps.
  private var several: [ObjectIdentifier: [StoreConnection]] = [:]

  init(_ connections: [StoreConnection]) {
    for connection in connections {
      for descriptor in connection.descriptors {
        guard let home = homes[descriptor.classID] else {
          homes[descriptor.classID] = connection
          continue
        }
        several[descriptor.classID, default: [home]].append(connection)
      }
    }
    for (type, stores) in several { homes[type] = stores.first(where: \.allowsSave) ?? stores[0] }
  }

  /// Whether several stores keep models of any class.
  var areShared: Bool { !several.isEmpty }

  /// The store that new models of a class are saved to: the first that may be written.
  func home(of descriptor: ModelDescriptor) -> StoreConnection? { homes[descriptor.classID] }

  /// The stores that keep models of a class, in the order of the configurations; `nil` if there is at most one.
  func several(of descriptor: ModelDescriptor) -> [StoreConnection]? {
    several.isEmpty ? nil : several[descriptor.classID]
  }
}
