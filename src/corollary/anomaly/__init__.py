"""Anomalies: which rows are unusual, how sure that is, and which columns make them so.

What is normal is known by examples only. A score says how unusual a row is: the negative log
density of a mixture behind a projection (:class:`PCAMixture`), a Mahalanobis distance, what a
projection loses (:func:`reconstruction_scores`), the distance from the nearest cluster, a kernel
density, or a machine of one class. :class:`AnomalyDetector` calibrates a score on rows that it was
not fitted to: every new row gets a p-value, valid for any score and any law, and rows are called at
a rate of false discoveries (:class:`Discoveries`), not at a guessed share of anomalies. Rows of the
training table itself need an assumption (:func:`tail_p_values`), which is stated and tested.
"""

from corollary.anomaly.detector import AnomalyDetector as AnomalyDetector
from corollary.anomaly.discoveries import Discoveries as Discoveries
from corollary.anomaly.display import AnomalyDisplay as AnomalyDisplay
from corollary.anomaly.measures import cluster_distances as cluster_distances
from corollary.anomaly.measures import density_score as density_score
from corollary.anomaly.measures import gaussian_score as gaussian_score
from corollary.anomaly.measures import reconstruction_scores as reconstruction_scores
from corollary.anomaly.measures import score_threshold as score_threshold
from corollary.anomaly.scores.distances import ClusterDistance as ClusterDistance
from corollary.anomaly.scores.distances import Reconstruction as Reconstruction
from corollary.anomaly.scores.gaussian import Mahalanobis as Mahalanobis
from corollary.anomaly.scores.gaussian import PCAMixture as PCAMixture
from corollary.anomaly.scores.model import ModelScore as ModelScore
from corollary.anomaly.tail import TailLaw as TailLaw
from corollary.anomaly.tail import tail_p_values as tail_p_values
