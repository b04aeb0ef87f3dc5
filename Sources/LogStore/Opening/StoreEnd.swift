import ModelRuntime

/// Why a store that is still referred to is open no more.
enum StoreEnd: Hashable, Sendable {
  /// Its container was closed.
  case containerClosed
  /// The process opened the file again with other models.
  case openedWithOtherModels
  /// The folder was removed or moved, and the process opened its place again.
  case folderReplaced

  /// The error that further uses of the store throw.
  func error(path: String) -> SwiftDataError {
    let message =
      switch self {
      case .containerClosed:
        "\(path): the container was closed, and its contexts can no longer be used: make another container"
      case .openedWithOtherModels:
        "\(path): the file was opened again in this process with other models or another version of them, and "
          + "contexts of the older container can be used no more: use the newer container"
      case .folderReplaced:
        "\(path): the folder was removed or moved while it was open, and its place was opened again: use the "
          + "newer container"
      }
    return .storeClosed.explained(message)
  }
}
