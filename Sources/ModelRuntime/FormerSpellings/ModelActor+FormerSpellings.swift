/// The executor of a model actor.
@available(*, deprecated, renamed: "DefaultSerialModelExecutor")
public typealias DefaultModelExecutor = DefaultSerialModelExecutor

extension DefaultSerialModelExecutor {
  /// Makes the executor of a context.
  @available(*, deprecated, renamed: "init(modelContext:)")
  public convenience init(context: ModelContext) { self.init(modelContext: context) }
}

extension ModelActor {
  /// The context of the actor.
  @available(*, deprecated, renamed: "modelContext")
  public var context: ModelContext { modelContext }
}
