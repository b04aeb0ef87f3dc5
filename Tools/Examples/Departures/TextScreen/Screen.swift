import Observation

/// A place in the tree of views, which lasts as long as there is a view at it.
@MainActor
final class Place {
  var states: [Int: AnyObject] = [:]
  private var parts: [AnyHashable: Place] = [:]
  private var drawn: [AnyHashable: Place] = [:]

  subscript(_ part: some Hashable) -> Place {
    let place = parts[part] ?? Place()
    drawn[part] = place
    return place
  }

  func lines<Content: View>(of view: Content, in environment: EnvironmentValues) -> [String] {
    defer { (parts, drawn) = (drawn, [:]) }
    if let view = view as? any PrimitiveView { return view.lines(at: self, in: environment) }
    var number = 0
    update(propertiesOf: view, &number, in: environment)
    return self[0].lines(of: view.body, in: environment)
  }

  private func update(propertiesOf owner: Any, _ number: inout Int, in values: EnvironmentValues) {
    for child in Mirror(reflecting: owner).children {
      guard var property = child.value as? any DynamicProperty else { continue }
      if let placed = property as? any PlacedProperty {
        placed.move(to: self, number: number, in: values)
        number += 1
      } else {
        update(propertiesOf: property, &number, in: values)
      }
      property.update()
    }
  }
}

/// A terminal's screen: draws a view, and again whenever something changes that the view has read.
@MainActor
public final class Screen<Content: View> {
  /// The way in which a screen learns that it is out of date.
  public enum Tracking { case observation, redrawOnly }

  private let content: Content
  private let tracking: Tracking
  private let write: ([String]) -> Void
  private let root = Place()
  private var isScheduled = false
  private var isClosed = false

  /// Shows a view.
  ///
  /// - Parameters:
  ///   - content: The view.
  ///   - tracking: Whether the values that the view reads are tracked, or only `\.redraw` has it drawn again.
  ///   - write: Takes its lines.
  public init(
    _ content: Content,
    tracking: Tracking = .observation,
    write: @escaping ([String]) -> Void
  ) {
    (self.content, self.tracking, self.write) = (content, tracking, write)
    draw()
  }

  /// Stops drawing.
  public func close() { isClosed = true }

  /// Draws at the main actor's next turn, once for everything until then.
  public func redraw() {
    if isScheduled { return }
    isScheduled = true
    Task { [weak self] in self?.draw() }
  }

  private func draw() {
    isScheduled = false
    if isClosed { return }
    switch tracking {
    case .redrawOnly: write(lines())
    case .observation:
      let lines = withObservationTracking(lines) { [weak self] in
        Task { @MainActor in self?.redraw() }
      }
      write(lines)
    }
  }

  private func lines() -> [String] {
    var environment = EnvironmentValues()
    environment.redraw = { [weak self] in self?.redraw() }
    return root.lines(of: content, in: environment)
  }
}
