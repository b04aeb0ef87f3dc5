/// A property that is brought up to date before its view is drawn.
public protocol DynamicProperty { mutating func update() }

extension DynamicProperty { public mutating func update() {} }

/// A property that lives at a view's place.
protocol PlacedProperty {
  @MainActor func move(to place: Place, number: Int, in environment: EnvironmentValues)
}

/// A value that a view keeps from one drawing to the next.
@MainActor @propertyWrapper
public struct State<Value>: DynamicProperty, PlacedProperty {
  final class Box {
    var value: Value
    var redraw: @MainActor () -> Void = {}
    init(_ value: Value) { self.value = value }
  }
  final class Location {
    var box: Box
    init(_ box: Box) { self.box = box }
  }

  let location: Location

  public init(wrappedValue: Value) { location = Location(Box(wrappedValue)) }

  public var wrappedValue: Value {
    get { location.box.value }
    nonmutating set {
      location.box.value = newValue
      location.box.redraw()
    }
  }

  func move(to place: Place, number: Int, in environment: EnvironmentValues) {
    if let kept = place.states[number] as? Box { location.box = kept }
    place.states[number] = location.box
    location.box.redraw = environment.redraw
  }
}

/// A value of what surrounds a view.
@propertyWrapper
public struct Environment<Value>: DynamicProperty, PlacedProperty {
  final class Reading { var values = EnvironmentValues() }

  let keyPath: KeyPath<EnvironmentValues, Value>
  let reading = Reading()

  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

  public var wrappedValue: Value { reading.values[keyPath: keyPath] }

  func move(to _: Place, number _: Int, in environment: EnvironmentValues) {
    reading.values = environment
  }
}

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]

  public init() {}

  public subscript<Key: EnvironmentKey>(_ key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

private struct RedrawKey: EnvironmentKey { static var defaultValue: @MainActor () -> Void { {} } }

extension EnvironmentValues {
  /// Has the screen drawn again.
  public var redraw: @MainActor () -> Void {
    get { self[RedrawKey.self] }
    set { self[RedrawKey.self] = newValue }
  }
}

extension View {
  public func environment<Value>(
    _ keyPath: WritableKeyPath<EnvironmentValues, Value>,
    _ value: Value
  ) -> some View { EnvironmentView(content: self, keyPath: keyPath, value: value) }
}

struct EnvironmentView<Content: View, Value>: View, PrimitiveView {
  let content: Content
  let keyPath: WritableKeyPath<EnvironmentValues, Value>
  let value: Value

  func lines(at place: Place, in environment: EnvironmentValues) -> [String] {
    var environment = environment
    environment[keyPath: keyPath] = value
    return place[0].lines(of: content, in: environment)
  }
}
