/// An actor that works with models, in its own context; conformance is written by `@ModelActor`.
///
/// The actor's isolated code runs on its ``modelExecutor``, and so does everything that touches its
/// ``modelContext``. Models do not leave it: pass their `persistentModelID`.
public protocol ModelActor: Actor {
  /// The container that the actor's context reads from and saves to.
  nonisolated var modelContainer: ModelContainer { get }

  /// Runs the actor's code.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    guard let executor = modelExecutor as? any SerialModelExecutor else {
      preconditionFailure(
        "\(type(of: modelExecutor)) runs jobs side by side; an actor needs a SerialModelExecutor"
      )
    }
    return unsafe executor.asUnownedSerialExecutor()
  }

  /// The context of the actor.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model with an identifier, or `nil` if none of that type exists.
  public subscript<T>(id: PersistentIdentifier, as as: T.Type) -> T? where T: PersistentModel {
    guard let model = modelContext.model(for: id) as? T else { return nil }
    model._$state.loadRow()
    return model._$state.isDeleted || model._$state.flags.contains(.vanished) ? nil : model
  }
}
