"""Certificates: what theory proves about a fitted model, computed for given rows.

:func:`certify` applies the theorems that fit a model and a set of rows, and returns
:class:`Certificate` records, which print as sentences. Each is valid on its own; :func:`tightest`
chooses among them and pays for the choice. A theorem is a file of the folder ``proofs``: it asks
the model what it is by a protocol of ``corollary.core.protocols``, computes a bound of
:mod:`corollary.theory` and says what it assumes; :func:`register_theorem` adds one from outside.
:class:`LearningCurveDisplay` draws a learning curve with its guarantee.
"""

from corollary.certificates.certification import certify as certify
from corollary.certificates.choice import tightest as tightest
from corollary.certificates.learning_curves import LearningCurve as LearningCurve
from corollary.certificates.learning_curves import LearningCurveDisplay as LearningCurveDisplay
from corollary.certificates.learning_curves import learning_curve as learning_curve
from corollary.certificates.proofs.anytime import anytime_certificate as anytime_certificate
from corollary.certificates.proofs.bags import left_out_losses as left_out_losses
from corollary.certificates.proofs.coverage import coverage_certificates as coverage_certificates
from corollary.certificates.proofs.held_out import (
    empirical_bernstein_certificate as empirical_bernstein_certificate,
)
from corollary.certificates.proofs.held_out import (
    error_quantile_certificate as error_quantile_certificate,
)
from corollary.certificates.proofs.held_out import (
    error_rate_certificate as error_rate_certificate,
)
from corollary.certificates.proofs.held_out import hoeffding_certificate as hoeffding_certificate
from corollary.certificates.proofs.online_runs import (
    online_to_batch_certificate as online_to_batch_certificate,
)
from corollary.certificates.register import Evidence as Evidence
from corollary.certificates.register import Theorem as Theorem
from corollary.certificates.register import forget_theorem as forget_theorem
from corollary.certificates.register import register_theorem as register_theorem
from corollary.certificates.register import theorems as theorems
from corollary.core.certificate import Assumption as Assumption
from corollary.core.certificate import Certificate as Certificate
from corollary.core.certificate import Population as Population
from corollary.core.certificate import Quantity as Quantity
