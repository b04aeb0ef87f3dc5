#if PostgreSQL
import Foundation

/// The numbers of standard input, output and error.
///
/// A process that was started without them, as daemons are, would get them for its first sessions: its next line of log, or a
/// warning of the runtime, would go to the server as part of the protocol, and the server would end the session.
enum StandardDescriptors {
  /// Opens `/dev/null` under each of the numbers that is free, so that nothing else gets it, whichever library opens it.
  static func occupy() {
    while true {
      let descriptor = open("/dev/null", O_RDWR | O_CLOEXEC)
      // The system gives the least number that is free.
      guard STDIN_FILENO...STDERR_FILENO ~= descriptor else {
        if descriptor >= 0 { close(descriptor) }
        return
      }
      // Programs that the process starts have them, too, as they would have others.
      _ = fcntl(descriptor, F_SETFD, 0)
    }
  }
}
#endif
