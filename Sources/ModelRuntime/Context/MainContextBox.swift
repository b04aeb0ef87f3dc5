/// A container's reference to the main actor's context; separate, because only the main actor may use it.
final class MainContextBox: Sendable {
  // Not isolated, for the deinitializer alone.
  @safe private nonisolated(unsafe) var made: ModelContext?

  deinit {
    // A container may be released on any thread; only the main actor may change the context's models, and they may outlive it.
    if made == nil || MainActorThread.isCurrent { return }
    let remains = MainActorRemains([made] as [Any?])
    made = nil
    remains.release()
  }

  @MainActor func context(of container: ModelContainer) -> ModelContext {
    if let made { return made }
    let context = container.coordinator.mainContext ?? make(for: container)
    made = context
    return context
  }

  @MainActor private func make(for container: ModelContainer) -> ModelContext {
    let context = ModelContext(container)
    context.autosave = Autosave(isEnabled: true, isMain: true)
    context.automaticallyMergesChanges = true
    context.owner = .mainActor
    container.coordinator.mainContext = context
    return context
  }
}
