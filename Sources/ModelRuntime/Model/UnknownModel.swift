/// The class of the placeholder for an identifier whose entity no schema of the container has.
@Model
final class UnknownModel {
  init() {}
}
