import LibC

extension StorageError {
  /// Whether the system has refused a call for a reason that says nothing about the bytes of a store.
  ///
  /// That is a missing permission, or a limit of the process or the machine: a tool that looks for damage has found none, and
  /// can be run again. A device that cannot read its own bytes is a different matter: what was written there is lost.
  public var isSystemFailure: Bool {
    switch self {
    case .inputOutput(_, _, let errno): !Self.errorsOfMedia.contains(errno)
    case .noSpace: true
    case .poisoned(_, let cause): cause.isSystemFailure
    default: false
    }
  }

  /// The error numbers by which devices and file systems report that they have lost bytes.
  private static var errorsOfMedia: [Int32] {
    #if canImport(Darwin)
    [EIO, ENXIO, EBADMSG, EILSEQ]
    #else
    [EIO, ENXIO, EBADMSG, EILSEQ, ENODATA, EUCLEAN, EREMOTEIO]
    #endif
  }
}
