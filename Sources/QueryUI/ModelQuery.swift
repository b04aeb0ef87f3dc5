public import ModelRuntime

/// The property wrapper `@Query` of views: the models that a fetch finds, as they are whenever the view is drawn.
///
/// ```swift
/// struct TripList: View {
///   @Query(filter: #Predicate<Trip> { $0.distance > 500 }, sort: \.name) private var trips: [Trip]
///
///   var body: some View {
///     List(trips) { trip in Text(trip.name) }
///   }
/// }
/// ```
///
/// An adapter gives it the name `Query`, and says by ``QueryProperties`` how its framework keeps things for views. The
/// models are those of the environment's `modelContext`, with its unsaved changes, and with the saves of other contexts and
/// other processes. A view that is drawn without changes causes no fetch, also if its parent made it anew with an equal
/// fetch.
@MainActor @propertyWrapper
public struct ModelQuery<Element: PersistentModel, Properties: QueryProperties> {
  private let descriptor: FetchDescriptor<Element>
  private let transition: (@MainActor (() -> Void) -> Void)?
  private let properties = Properties()

  init(
    _ descriptor: FetchDescriptor<Element>,
    transition: (@MainActor (() -> Void) -> Void)?
  ) {
    self.descriptor = descriptor
    self.transition = transition
  }

  /// Finds all models of the class, in the order in which they were first saved.
  // Here, since the compiler looks nowhere else for the meaning of `@Query` without arguments.
  public init() { self.init(FetchDescriptor(), transition: nil) }

  /// The models, in order; none if the fetch has failed.
  ///
  /// - Complexity: O(*n*) for the first drawing after models came, went or moved, then O(1).
  public var wrappedValue: [Element] { state.elements }

  /// The error of the last fetch, or `nil`; the fetch is tried again when the view is next drawn.
  public var fetchError: (any Error)? { state.fetchError }

  /// The context whose models these are.
  public var modelContext: ModelContext { properties.modelContext }

  /// Brings the query up to date with the view's environment; frameworks call it before they draw a view.
  public func update() {
    let storage = properties.storage
    storage.transition = transition
    let state = storage.state(of: Element.self)
    if storage.onChange == nil {
      state.onChange = nil
    } else if state.onChange == nil {
      state.onChange = { [weak storage] in storage?.change() }
    }
    state.update(descriptor, in: properties.modelContext)
  }

  private var state: QueryState<Element> { properties.storage.state(of: Element.self) }
}
