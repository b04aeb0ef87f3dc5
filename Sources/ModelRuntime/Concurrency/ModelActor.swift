/// An actor with a context of its own; conformance is written by `@ModelActor`.
///
/// Its work runs on the executor of its context, a serial queue, and never on the main thread, wherever
/// the actor was made.
public protocol ModelActor: Actor {
  nonisolated var modelContainer: ModelContainer { get }
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    guard let executor = modelExecutor as? any SerialModelExecutor else {
      preconditionFailure(
        "\(type(of: modelExecutor)) cannot run an actor: expected a SerialModelExecutor")
    }
    return executor.asUnownedSerialExecutor()
  }

  /// The actor's context.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model for an identifier, or `nil` if there is none of that class.
  public subscript<T>(id: PersistentIdentifier, as as: T.Type) -> T? where T: PersistentModel {
    guard let model = modelContext.model(for: id) as? T else { return nil }
    model._$state.loadRow()
    return model._$state.isDeleted || model._$state.flags.contains(.vanished) ? nil : model
  }
}

/// An executor that comes with a context.
public protocol ModelExecutor: Executor {
  var modelContext: ModelContext { get }
}

/// A ``ModelExecutor`` that runs one job at a time.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}
