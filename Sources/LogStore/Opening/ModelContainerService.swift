#if ServiceLifecycle
public import ModelRuntime
public import ServiceLifecycle

/// Closes the stores of a container when its service group stops.
///
/// A group stops its services in the reverse of their order, each when those behind it have ended. So put this one before
/// the services that use the container:
///
///     ServiceGroup(services: [ModelContainerService(container), server], logger: logger)
///
/// Only with the package's trait `ServiceLifecycle`.
public struct ModelContainerService: Service {
  /// The container that is closed.
  public let container: ModelContainer

  /// Makes the service of a container.
  public init(_ container: ModelContainer) { self.container = container }

  /// Waits until the group stops, or the task is cancelled, and closes the container.
  ///
  /// - Throws: What ``/ModelRuntime/ModelContainer/close()`` throws.
  public func run() async throws {
    // Cancelled or asked to stop: either way the stores are to be closed.
    try? await gracefulShutdown()
    try await container.close()
  }
}
#endif
