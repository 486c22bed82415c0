"""The certificate of a network that was trained to minimise it."""

from collections.abc import Iterator

from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Certificate
from corollary.core.protocols import HasCertificate


@register_theorem(
    "theory.pac-bayes-training",
    needs="seen",
    applies=lambda evidence: isinstance(evidence.model, HasCertificate),
    title="PAC-Bayes bound of the training",
    idea="pays for the distance of the weights from a prior",
)
def _certify_network(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Hand out the certificate that the model carries, at the asked confidence."""
    yield evidence.model.certificate_.at(confidence)
